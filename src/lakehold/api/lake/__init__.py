"""REST endpoints of the lake: SQL queries, tables, volumes and lineage.

- `queries`: run, stop and save queries; their history; saved queries
- `tables`: fields, snapshots and rows of tables
- `volumes`: files of volumes
- `lineage`: upstream and downstream resources
- `row_formats`: rows as JSON, CSV or an Arrow stream
"""
