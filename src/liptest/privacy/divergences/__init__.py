"""What tells two laws apart: likelihood ratios, Renyi divergences, trade-off curves."""
