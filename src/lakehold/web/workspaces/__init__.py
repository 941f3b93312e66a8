"""Pages that manage workspaces: the list, members, and settings.

- `workspace_list`: all visible workspaces, and the form for a new one
- `members`: the members of a workspace with their roles, scope and labels; adding, changing and removing one
- `membership`: the fields of a membership, and what they change
- `settings`: name, description, attributes and labels of a workspace, the tenant's plan, and deletion

The overview page of a workspace and the lists of its resources are in `lakehold.web.resources`.
"""
