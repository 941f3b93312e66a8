"""Pages of groups.

- `group_list`: all groups, and creating one
- `group_page`: a group's page with its members and roles; renaming and deleting it; adding and removing members

Tenant roles of groups are set in lakehold.web.people.tenant_roles.
"""
