"""Tables on Iceberg, volumes of files, and previews; with Spark in a sub-package of its own.

These modules may be imported by a server:

- `iceberg_catalog`: the platform's Iceberg catalog; tables by number
- `warehouse`: which locations are inside the warehouse, and which ones a table's metadata names
- `installation`: the marker of the installation that a warehouse or volumes folder belongs to
- `relocation`, `avro_copy`: rewrites the locations of a copied or moved installation's tables
- `table_metadata`: fields and snapshots of a table, from its metadata file
- `readable_tables`: the tables that a caller may read, by their SQL names
- `table_views`: the snapshots and fields of a table that a caller may read
- `catalog_tokens`: short-lived tokens of user sessions, the tables loaded with them, and their system tables
- `previews`: the first rows of a table
- `scans`, `filter_expressions`: the PyIceberg scan behind previews; slow to import
- `row_formats`: names, values and rows in SQL, JSON, CSV and Arrow
- `sql_expressions`: literals, conditions and aggregates in SQL, typed by their column
- `folder_handle`: folders opened part by part, without following links
- `volumes`: files of volumes, and the interface of the services that keep them
- `lineage`: the walk from a resource to what it is made from and what reads it
- `markdown`: Markdown of mails and messages, as HTML and for chats
- `errors`: errors of queries, tables, sources and deliveries

Only a worker imports:

- `spark`: the Spark session, tables, writes, and queries of users
"""
