"""Pages that manage workspaces: the list, members, and settings.

- `workspace_list`: all visible workspaces, and the form for a new one
- `members`: the members of a workspace with their roles, scope and labels
- `member_form`: add a member or change a membership
- `membership`: the fields of that form and what they change
- `settings`: name, description, attributes and labels of a workspace, and its deletion
- `tenant_plan`: the tenant's plan, where a model's rules read it

The overview page of a workspace and the lists of its resources are in `lakehold.web.resources`.
"""
