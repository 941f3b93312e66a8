"""The SQL editor of a lakehouse.

- `editor`: run a query as the caller; the history of queries
- `query_result`: the rows, error and chart of a query
- `saved_queries`: saved queries, and results saved as tables
"""
