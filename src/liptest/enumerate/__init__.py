"""Exact output laws of ordinary Python code, by enumerating its random choices."""
