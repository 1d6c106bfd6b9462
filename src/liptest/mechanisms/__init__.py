"""Mechanisms: output laws, declared forms, statistics, and a catalogue of right and wrong ones."""
