"""What code gets in the place of random generators, while it is analysed only."""
