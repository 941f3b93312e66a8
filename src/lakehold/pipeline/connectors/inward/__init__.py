"""How rows come in: each connector is its settings, and reads one of its streams as rows.

What cannot be read as a row of the stream is kept aside with its reason, never dropped: a connector gives good rows and
bad ones. `sync` writes both, once for each mark.

- `connector`: what all of them can do; `sync`: a stream into a table; `cursors`: how far a stream has been read
- `files`: CSV, JSON, JSON lines, Parquet and Excel; `jdbc`: databases; `rest`: APIs by HTTP
- `records`: rows from JSON; `lines`: which rows are bad, and why; `reasons`: the same in words, for one row
- `kinds`: what type a value has; `names`: names of fields, made distinct
- `trouble`: what is told of an error
"""
