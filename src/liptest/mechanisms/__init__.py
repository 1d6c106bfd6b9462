"""Mechanisms: their laws, declared forms, statistics, a catalogue of right and wrong ones."""
