"""Samplers of a program's own, and loops that start over, summed up to their laws."""
