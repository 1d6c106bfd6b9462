"""Numbers and arrays that stand for all that they may be in a run: uniform floats, noise, bits."""

from liptest.values import numpy_functions, uniform

# Importing them fills the table of NumPy's functions and that of promotions.
__all__ = ["numpy_functions", "uniform"]
