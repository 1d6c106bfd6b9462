"""Random floats as intervals of NumPy's grid, and monotone functions of them."""
