"""The process of a gateway. It needs neither Spark nor Java, and dials out only.

- `identity_folder`: the folder with its keys, and where it dials
- `registration`: registers it with a code
- `platform_client`: its calls to the platform
- `streams`: the protocol of readers: an open stream, and its parts
- `readers`: the reader of a connection, by its connector
- `postgres`: reads tables of PostgreSQL as Arrow record batches
- `api`: reads endpoints of HTTP APIs
- `process`: takes work orders and executes them, reconnects, and rotates its keys
"""
