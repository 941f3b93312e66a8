"""What is so: who holds which role on what, which value an attribute has, what points at what.

- `records`: the three facts as people and services name them, and changes to them
- `maps`: mappings that can be laid over others, so that a change can be tried without making it
- `view`: the facts at one moment, as every decision reads them
- `overlay`: a view with some changes on top: a draft, a what-if, a transaction's own writes
- `index`: the committed facts of a tenant in memory, at one sequence number
- `tables`: the same facts in SQLite or PostgreSQL, closed and never overwritten
- `store`: writes them
- `catch_up`: brings an index to a transaction's sequence number
"""
