"""How rows come to a workspace and leave it, for the steps of every kind of workspace. Only a worker imports this.

- `connecting`: a connector, from settings and secrets; `looking`: a look at what it would read
- `sending`: a delivery, from settings and secrets; `noted`: how far it has come, and what it did
"""
