"""Connector for chats.

- `connector`: its settings and its descriptor
- `destination`: a message to a chat
"""
