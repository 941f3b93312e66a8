"""List and who, as SQL that the database evaluates; and all ids at once, which the index in memory has as sets.

- `statement`: the pieces of a statement, its common table expressions, and the limit on its nesting
- `conditions`: one expression of a policy as an SQL condition on a member and a resource
- `reverse_lookup`: from the principal's grants to the resources, for when those are few, and whether they are
- `listing`: all resources that a principal may do something with, paged, sorted and searched
- `resource_sets`: all resources that a principal may do something with, as sets of numbers in memory
- `holders`: all members who may do something with a resource
"""
