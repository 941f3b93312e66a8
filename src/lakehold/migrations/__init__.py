"""The steps from each version of the database to the next. They know tables by name, never by today's code.

- `columns`: the types of columns that they share
- `env`: runs them in the connection that the database gives
- `versions`: one module for each step
"""
