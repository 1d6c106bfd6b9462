"""What the installed NumPy really returns: samplers as functions of grid points, and sums of them.

The mathematics is in docs/theory/floats.md.
"""
