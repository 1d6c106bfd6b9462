"""Data as columns, lists and rows: what a program makes of every record alike."""
