"""Transfer of rows into and out of workspaces, for the executors of all of them.

Only a worker imports this.

- `source`: connectors created from settings and secrets, and probing them
- `delivery`: delivery of rows to a destination, its progress and its result
"""
