"""Spark: only a worker imports this.

- `session`: the one Spark of a process; `jars`, `resolving`: what it needs beside its own; `archive`,
  `archiving`: its classes, for a quicker start; `jvm`: what only Java can do
- `tables`: tables on Iceberg; `writing`: writes that are made once; `evolution`: when fields change
- `spans`: a part of a table written anew
- `histories`: how things were, kept by `arrivals` (what is new) and `versions` (what it makes)
- `maintenance`: the upkeep of tables
- `persons`: a session that knows what one person may read; `lending`: such sessions between two queries
- `queries`, `results`: what persons ask; `sharing`: nobody takes all of Spark; `guard`: what a query may be made of
"""
