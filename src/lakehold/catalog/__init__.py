"""Workspaces and resources: their metadata, grants, requests for access and access reviews.

- `kinds`: what the models say of a kind: its parent, its edges, the rights to edit and delete it
- `resources`: create, get, list, search, delete and restore resources
- `resource_view`: a resource as a caller sees it
- `resource_metadata`: description, settings, version and editors of a resource; settings of its kind's schema
- `resource_edit`: one edit of a resource, checked as a whole, and its move to another parent
- `workspaces`: workspaces and their members
- `grants`: who holds which role, and who may do what by which path
- `undo`: when grants and memberships held before a change, and their restoration
- `change_preview`: the effects of a change, and their confirmation for a new version of an access model
- `ownership`: transfer of roles that a single person holds
- `requests`, `approvals`, `request_table`: requests for access, their answers, and their storage
- `discovery`: names of discoverable resources that the caller may not see
- `campaigns`, `campaign_decisions`, `campaign_table`: access reviews
- `usage`: when members last used resources and roles
- `integration_reads`: what integrations read, and their tokens with them
- `impersonation`: viewing as another member
- `network_policy`, `network_policy_impact`: which hosts and mail domains connections may reach, and what that refuses
- `credentials`: encrypted secrets of a resource

All functions take a RequestContext and never commit.
"""
