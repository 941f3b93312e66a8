"""Connector for HTTP APIs that answer in JSON.

- `connector`: the descriptor
- `settings`: endpoints, paging, authentication and limits
- `source`: endpoints as a source, and its Python data source for Spark
- `client`: one request with retries and throttling
- `paging`: page after page, until there are no more
"""
