"""What a mechanism reads of a dataset, and which datasets share a law for it."""
