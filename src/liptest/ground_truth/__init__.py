"""Exact distances to the Lipschitz functions, covers and repair; testers never import it."""
