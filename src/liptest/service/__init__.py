"""The service: vendors submit code, operators release; web, workers and one releaser."""
