"""Every member × resource × action, computed by Spark from the same policy. The caller gives the session.

Members are numbered, and a set of members is a row of bits: a kind's resources are a matrix, and a rule is a handful of
operations on whole matrices. Spark carries the facts to its workers and the answers on; nothing is collected to the
driver.

In the workers, with numpy and Arrow only:

- `bits`: sets of members as rows of a matrix, in memory and as a column
- `operations`: what a kind is asked, as operations on such matrices
- `workers`: what is made of the answers: sets, counts, pairs

In the driver:

- `reaches`: what is asked at the ends of edges, and how much work that is
- `facts`: the facts of a kind as Arrow columns
- `compiling`: expressions of the policy as operations, with the columns that they read
- `frames`: kinds as DataFrames, joined where one asks much of another
- `review`: the result: pairs, rows and counts
"""
