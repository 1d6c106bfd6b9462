"""What pandas hands a program, as symbols: frames, series, groups, rows of each user."""
