"""The facts: who holds which role on what, which value an attribute has, what points at what.

- `records`: the three facts and changes to them, as callers name them, and the validation of their input
- `descriptions`: facts, resources and actions in words
- `layered_maps`: mappings that can be laid over others, so that a change can be tried without making it
- `last_holder`: roles that must always be held
- `names`: which names are unique, and where
- `name_claims`: the names that resources claim, as one transaction reads and writes them
- `view`: the facts at one moment, as every decision reads them
- `changes`: resolves a change into the rows that open and close; drafts and what-ifs
- `transaction_state`: the changes of an open transaction on top of a view, and the rows that it locks
- `index`: the committed facts of a tenant in memory, at one sequence number
- `tables`: the facts in SQLite or PostgreSQL, closed and never overwritten; grants with their periods
- `loader`: reads them into a view
- `deletions`: the facts that ended with a deleted resource
- `store`: writes them
"""
