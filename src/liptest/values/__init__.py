"""Numbers and arrays that stand for all that they may be in a run: uniform floats, noise, bits."""

from liptest.values import matrix_functions, numpy_functions, search_functions
from liptest.values.answers import weight_cells
from liptest.values.draws import rounded_noise, uniform

# Importing them fills the table of NumPy's functions that of promotions and that of scores.
__all__ = [
    "matrix_functions",
    "numpy_functions",
    "rounded_noise",
    "search_functions",
    "uniform",
    "weight_cells",
]
