"""Attempts and releases, kept in a file that only grows (theory 3.11)."""
