"""Every member × resource × action, computed by Spark from the same policy. The caller gives the session.

Members are numbered, and a set of members is the bits of whole numbers: 64 members are decided by one operation, and a
decision about a resource is a handful of columns. Nothing is collected to the driver.

- `columns`: sets of members as columns of a DataFrame
- `shipped`: the facts of a view as DataFrames
- `frames`: relations of a kind, as sets of members for each of its resources
- `review`: the result: pairs, rows and counts
"""
