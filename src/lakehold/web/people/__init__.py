"""Pages of members: the list, a member's page, roles, effective access, and service accounts.

- `member_list`: all members, adding one, and service accounts with their tokens
- `member_actions`: the actions that the caller may take on a member, or the reason why not
- `member_page`: a member's page; editing, groups, sessions, sign-in links, and removal
- `effective_access`: every resource that a member can access, by workspace and kind, and through which grant
- `tenant_roles`: tenant and security roles of members and groups
- `member_picker`: the choice of a member or group in a form, however many there are
"""
