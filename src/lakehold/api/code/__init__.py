"""Access as code over HTTP: a tenant as files, what files would change, and the change.

- `files`: the endpoints
- `telling`: what is told of things beside their facts, read from and given to those who keep it
"""
