"""Test first, release once: the gate and its routes."""
