"""Pages about access: who may do what with a resource, why, and requests for more.

- `access_page`: the access page of a resource: its matrix of members and actions, grants, owners and sharing settings
- `grant_forms`: give, change, revoke and transfer a role, and undo it
- `sharing_settings`: change the attributes and edges by which a resource is shared
- `explanation`: the page that explains one decision
- `explain_paths`: explanations as drawn paths
- `fact_labels`: names of resources, and why a member has a right
- `request_pages`: lists of access requests, a new one, one request, and its approval or refusal
- `resource_header`: actions, tabs and breadcrumbs of a resource, for the pages of all packages
"""
