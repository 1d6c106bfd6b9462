"""Claims about mechanisms of which only samples can be had (theory 3.14)."""
