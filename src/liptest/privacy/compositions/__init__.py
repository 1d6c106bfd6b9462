"""What several releases cost together."""
