"""REST endpoints of the catalog, a module for each noun.

- `network_policy`: which hosts and mail domains connections may reach
- `workspaces`: workspaces and their members; the kinds of resources that the access models define
- `resources`: resources of every kind; moving them, transferring ownership, and their secrets
- `grants`: who holds which role on what
- `requests`: access requests, and the discovery of what can be requested
- `resource_usage`: the last use of resources by members
- `schemas`: response models and field types that these share
"""
