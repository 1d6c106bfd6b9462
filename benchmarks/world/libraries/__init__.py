"""One file a library: its environments and its rows, whose functions import the library."""
