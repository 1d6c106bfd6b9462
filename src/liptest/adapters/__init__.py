"""Mechanisms of other libraries: their claims, their neighbours, their exact output laws.

A library is imported only where its objects are handed in.
"""
