"""Columns and rows of real numbers of the records, and between which floats they lie."""
