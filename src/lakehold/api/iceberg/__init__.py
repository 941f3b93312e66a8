"""The Iceberg REST catalog under `/iceberg/v1`: each token sees and loads just the tables that its member may read.

It is also the guard of every Spark session of a person: whatever a query calls a table, Spark asks here for it.

- `catalog`: the endpoints of the standard that read; those that would write are refused
- `shapes`: errors as the standard wants them
"""
