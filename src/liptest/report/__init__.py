"""Verdicts for people: text, and later pages and plots."""
