"""What code asks of its surroundings, and leaves in them: tracked, warned of or refused."""
