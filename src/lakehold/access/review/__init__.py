"""The access review: every member × resource × action, computed by Spark from the same policy. The caller gives the
session.

Members are numbered, and a set of members is a row of bits: a kind's resources are a matrix, and a rule is a handful of
operations on whole matrices. Spark carries the facts to its workers and the answers on; nothing is collected to the
driver.

In the workers, with numpy and Arrow only:

- `member_bits`: sets of members as rows of a matrix, in memory and as a column
- `operations`: the expressions of a kind as operations on such matrices
- `workers`: the functions that turn answers into sets, counts and pairs

In the driver:

- `fact_columns`: the facts of a kind as Arrow columns
- `compiler`: expressions of the policy as operations, with the columns that they read, and where each is evaluated
- `review`: Spark's passes over the facts, and their result: pairs, rows and counts
"""
