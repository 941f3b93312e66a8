"""Pages about access: who may do what with a resource, why, and requests for more.

- `access_page`: the access page of a resource: its matrix, grants, owners and sharing settings
- `access_matrix`: the matrix of members and actions, one page at a time
- `grant_forms`: give, change and revoke a role, and undo it
- `ownership_transfer`: transfer ownership
- `sharing_settings`: change the attributes and edges by which a resource is shared
- `form_fields`: the fields for a member or group and for a period
- `effect_preview`: the effect of a change
- `explanation`: the page that explains one decision
- `explain_paths`: explanations as drawn paths
- `fact_labels`: grants, edges and attributes as text
- `request_pages`: lists of access requests, one request, and its approval or refusal
- `request_form`: the form for a new access request
- `resource_header`: actions, tabs and breadcrumbs of a resource, for the pages of all packages
"""
