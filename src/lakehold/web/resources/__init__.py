"""Workspaces and everything in them, as every model has them: the pages that a workspace's own folder refines later.

- `spaces`: a workspace's page, and the lists of its kinds
- `one`: the page of one resource
- `making`, `changing`, `moving`, `ending`: make one, change what it says, let it lie elsewhere, delete and restore it
- `fields`: a kind's edges and attributes as the fields of a form
- `finding`: what the command palette finds
"""
