"""Shapes of loops, each with the code that is followed instead of it."""
