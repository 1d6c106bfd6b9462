"""The search for two neighbours that refute a claim, and what shows that they do."""
