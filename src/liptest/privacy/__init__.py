"""Testing privacy claims: losses, methods, verdicts."""
