"""Functions that treat the records of a dataset one by one."""
