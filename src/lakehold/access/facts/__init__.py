"""What is so: who holds which role on what, which value an attribute has, what points at what.

- `records`: the three facts as people and services name them, and changes to them
- `maps`: mappings that can be laid over others, so that a change can be tried without making it
- `view`: the facts at one moment, as every decision reads them
- `changes`: from a change as people name it to what opens and closes; drafts and what-ifs
- `overlay`: a view with a transaction's own writes on top
- `index`: the committed facts of a tenant in memory, at one sequence number
- `tables`: the same facts in SQLite or PostgreSQL, closed and never overwritten
- `loading`: reads them
- `store`: writes them
"""
