"""What a mechanism may see of a dataset, with all pairs of values that neighbours can have."""
