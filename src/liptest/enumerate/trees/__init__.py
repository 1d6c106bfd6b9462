"""The choice tree of a program: its runs, their outputs, and the laws that they sum up to."""
