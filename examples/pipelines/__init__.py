"""Pipelines on data frames, each right and with its classic bugs.

Every module has ``TABLE``, ``CLAIM``, the function ``right`` and ``BUGS``, by what is wrong.
tests/golden/test_pipelines.py holds each to its verdict.
"""
