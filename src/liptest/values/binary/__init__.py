"""Variables that are 0 or 1, arrays of what is made of them, and their sums."""
