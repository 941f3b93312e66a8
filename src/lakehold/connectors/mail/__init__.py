"""Connector for mails.

- `connector`: its settings and its descriptor
- `destination`: a file to people
"""
