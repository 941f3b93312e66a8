"""Data: where tables lie, what they are called, who reads them, and how rows come in, change and go out.

What a server may import:

- `lake`: where tables lie, by number; `metadata`: what a table is and was; `names`: what SQL calls it
- `reading`: who may read rows at all; `tickets`: what a Spark session shows to the catalog; `loads`: what it asked for
- `sights`: a place for what the platform tells one query of itself
- `previews`: the first rows of a table; behind it `scans`, `parquets` and `filters`, which take long to import
- `volumes`: files, a folder for each volume; `markdown`: the words of a mail or a message
- `errors`: what can go wrong with data

What only a worker imports:

- `spark`: the session, tables on Iceberg, and the guard of every person's query
- `connectors`: how rows come in and go out
"""
