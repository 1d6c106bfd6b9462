"""What polars hands a program, as symbols: frames, expressions, joins, rows of each user."""
