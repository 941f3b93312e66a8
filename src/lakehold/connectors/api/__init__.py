"""Connector for HTTP APIs that answer in JSON.

- `connector`: its settings (endpoints, paging, authentication and limits) and its descriptor
- `source`: endpoints as a source, and its Python data source for Spark
- `client`: requests page after page, with retries and throttling
"""
