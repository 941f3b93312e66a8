"""Connector for HTTP APIs that answer in JSON.

- `connector`: the descriptor
- `settings`: endpoints, paging, authentication and limits
- `source`: endpoints as a source, and its Python data source for Spark
- `client`: requests page after page, with retries and throttling
"""
