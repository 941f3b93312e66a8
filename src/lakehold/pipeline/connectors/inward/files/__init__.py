"""Files: CSV and its kin, JSON, JSON lines, Parquet and Excel, compressed by gzip where that makes sense.

- `files`: the connector; `shape`: what kind of file it is and how it is to be read
- `guessing`: both found from a file's beginning; `beginning`: that beginning, as text; `table`: separated values in it
- `separated`: rows from lines; `multiline`: rows from records that go over several lines
- `arrays`: records of a JSON array, one by one; `excel`: rows of a sheet; `paths`: what Spark is told of files
"""
