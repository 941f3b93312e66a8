"""Code that all sources share: each holds its settings and reads one of its streams as rows.

What cannot be read as a row is kept as a bad row with its reason, never dropped. `sync` writes good and bad rows, once
for each mark.

- `source`: the base of all sources, and cursors: how far a stream has been read
- `sync`: a stream into a table, with full refresh, append, merge, mirror and incremental
- `stream_selection`: several streams, or a query, as one stream
- `row_parsing`: rows from texts and JSON records; which are bad, and why
- `field_types`: types and distinct names of fields
"""
