"""What there is, who holds what on it, and how one comes by more.

- `kinds`: what the models say of a kind: its parent, its edges, which action it is edited or deleted with
- `details`: what is told of a resource beside its facts: description, settings, version, who made it
- `resources`, `shapes`: resources of every kind: make, get, list, search, delete, restore
- `editing`: one edit of name, description, attributes and edges, checked as a whole
- `workspaces`: the places that the resources lie in, with their members
- `grants`: who holds which role, from when until when
- `sharing`: what a change would do, before it is made
- `moves`: from one parent to another
- `ownership`: handing over what is held by a person; `leaving`: all that somebody owns in a workspace
- `requests`, `answers`: asking for access, and answering; `proposals`, `request_table`, `telling`: what both need
- `discovery`: names of what one may not see, where its keepers want it to be found
- `viewing`: seeing with another member's eyes
- `usage`: when who last did what
- `campaigns`: access reviews over a workspace; `campaign_rows`: what is decided in them, row by row; `campaign_sight`,
  `campaign_table`: what both need; `last_used`: when a role was last made use of
- `credentials`: secrets of a resource, encrypted; copying one is an action of its own

All functions take a `Work`: what one caller does in one transaction. They never commit.
"""
