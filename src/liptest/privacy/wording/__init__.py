"""What a verdict says beyond its decision: why, what would mend it, what floats give away."""
