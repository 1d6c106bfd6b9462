"""Functions that ask a database, or a data frame, for what they know of a table."""
