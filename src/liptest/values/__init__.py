"""Numbers and arrays that stand for all that they may be in a run: uniform floats, noise, bits."""

from liptest.values import numpy_functions, rounded_noise, uniform

# Importing them fills the table of NumPy's functions that of promotions and that of scores.
__all__ = ["numpy_functions", "rounded_noise", "uniform"]
