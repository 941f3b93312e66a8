"""REST endpoints of the lake that every way of working shares: SQL queries, tables and lineage.

- `queries`: run, stop and describe queries; their history; fields, snapshots and rows of tables
- `lineage`: upstream and downstream resources
- `files`: pages of a folder, and uploads
"""
