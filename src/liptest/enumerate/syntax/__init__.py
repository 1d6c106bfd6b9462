"""The source of a function: read, judged to be pure, cut in parts and put together again."""
