"""REST endpoints of the catalog, a module for each noun.

- `kinds`: the kinds of resources that the access models define
- `workspaces`: workspaces and their members
- `resources`: resources of every kind; moving them, and transferring ownership
- `grants`: who holds which role on what
- `credentials`: the secrets of a resource
- `requests`: access requests, and the discovery of what can be requested
- `view_as`: impersonation by admins
- `resource_usage`: the last use of resources by members
- `schemas`: response models and field types that these share
"""
