"""Random numbers of a run: uniform floats on their grid, noise, whole numbers, orders, coins."""
