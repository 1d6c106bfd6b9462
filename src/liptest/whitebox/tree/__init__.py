"""The choices of a random program, followed one run per leaf, and the law that they make."""
