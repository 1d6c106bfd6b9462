"""Numbers and arrays that stand for all that they may be in a run: uniform floats, noise, bits."""
