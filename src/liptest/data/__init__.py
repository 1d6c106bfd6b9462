"""Real tables as public data: frames, CSV and Parquet files, SQL; see docs/data.md."""
