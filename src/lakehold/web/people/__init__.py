"""Pages of members: the list, a member's page, roles, effective access, removal, and service accounts.

- `member_list`: all members, and adding one
- `member_actions`: the actions that the caller may take on a member, or the reason why not
- `member_page`: a member's page; editing name and e-mail address, groups, sessions and sign-in links
- `effective_access`: every resource that a member can access, by workspace and kind, and through which grant
- `tenant_roles`: tenant and security roles of members and groups
- `service_accounts`: service accounts and their tokens
- `member_removal`: removing a member, and transferring what they own
- `member_picker`: the choice of a member or group in a form, however many there are
"""
