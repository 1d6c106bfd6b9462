"""For tests of other people's code: contract suites, strategies, the pytest plugin."""
