"""Tests of the command line."""


def messages(err: str) -> list[str]:
    """The lines of an error without the example that one about usage ends with."""
    lines = err.splitlines()
    return lines[:-1] if lines and lines[-1].startswith("Example: liptest ") else lines
