"""Outputs that are numbers with noise without an end, and what tells two laws of them apart."""
