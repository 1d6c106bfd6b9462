"""Exact output distributions of ordinary Python code, by enumerating its random choices."""
