"""What cannot be followed, noticed and named."""
