"""Loops over records that only add up: one pass for each value that a column may hold."""
