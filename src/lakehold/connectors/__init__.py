"""Connectors: sources and destinations of rows. Only a worker imports this package.

- `sources`: files, databases and APIs that rows are read from
- `destinations`: files, databases, webhooks, mails and chats that rows are delivered to
- `database`: a database behind JDBC, and a connection to it
- `address_guard`: keeps requests out of private networks
- `redaction`: messages of other systems without hosts, users and files
"""
