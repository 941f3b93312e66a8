"""Generic pages of workspaces and resources, for every kind that has no pages of its own.

- `workspace_page`: the page of a workspace, and the lists of the resources in it by kind
- `resource_page`: the page of one resource
- `forms`: create, edit, move, delete and restore a resource; a kind's edges and attributes as form fields
"""
