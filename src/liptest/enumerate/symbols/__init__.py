"""Runs in which the data are symbols: all paths of a program, for data of any size."""
