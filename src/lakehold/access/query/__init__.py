"""List and who, as SQL that the database evaluates; and all ids at once, which the index in memory has as sets.

- `terms`, `sets`: the pieces of a statement, and its parts that are worked out once
- `sql`: one expression of a policy as an SQL condition on a member and a resource
- `drivers`: the same question turned round: from the asker's grants to the resources, for when those are few
- `nesting`: keeps a statement as shallow as the database can read
- `reach`: whether those are few, looked up in memory
- `listing`: all that an asker may see, paged, sorted and searched
- `held`: all that an asker may do something with, as numbers
- `holders`: all members who may do something with a resource
"""
