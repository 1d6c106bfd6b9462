"""Interception: where a program finds random numbers, and what it is handed instead."""
