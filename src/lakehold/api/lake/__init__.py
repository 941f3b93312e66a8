"""REST endpoints of the lake that every way of working shares: SQL queries, tables and lineage.

- `queries`: run, stop and describe queries; their history
- `tables`: fields, snapshots and rows of tables
- `lineage`: upstream and downstream resources
- `row_formats`: rows as JSON, CSV or an Arrow stream
- `files`: pages of a folder, and uploads
"""
