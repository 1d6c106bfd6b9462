"""Independent 0/1 variables that stay symbolic, and arrays and sums of them."""
