"""Source connector for HTTP APIs that answer in JSON.

- `connector`: the connector, and its Python data source for Spark
- `settings`: endpoints, paging, authentication and limits
- `client`: one request with retries and throttling
- `paging`: page after page, until there are no more
"""
