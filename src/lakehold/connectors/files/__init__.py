"""Connector for files: CSV, JSON, JSON Lines, Parquet and Excel, with gzip where that makes sense.

- `connector`: the descriptor
- `settings`: settings of sources and destinations of files, and the format of a file
- `source`: files as a source
- `destination`: files as a destination, exactly once
- `format_detection`: the format detected from a file's head
- `csv_files`: rows of CSV files, also with values over several lines
- `json_array`: records of a JSON array, one by one
- `excel`: rows of a sheet
"""
