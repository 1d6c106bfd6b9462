"""The same pipelines in polars: their frames are said by the annotation ``pl.DataFrame``."""
