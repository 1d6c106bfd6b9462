"""Methods that draw datasets: how they run, and what they say of all others."""
