"""Exact probabilities of linear constraints on independent noise that stays symbolic."""
