"""Laplace, Gaussian, geometric and other noise that stays symbolic in plain code."""
