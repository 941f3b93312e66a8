"""Connector for webhooks.

- `connector`: its settings and its descriptor
- `destination`: rows to a URL, in signed batches
"""
