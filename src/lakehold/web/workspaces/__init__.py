"""Workspaces: which there are, who is in one, and how it is set.

- `tabs`: the views of one workspace, for every page of it (with `workspaces/tabs.html`)
- `routes`: the list, and making a new one; `words`: what each model is for
- `members`: who is in a workspace, with which roles, scope and labels; `inherited`: who is without being added
- `entering`: adding somebody, and changing what they have; `membership`: the fields of that form, and what they change
- `settings`: name, description, attributes, labels such as contexts, and its end; `plans`: the tenant's plan

The workspace's own page and the lists of what lies in it are in the room `resources`.
"""
