"""People: who is there, what they hold, what they can reach, and how they leave.

- `routes`: the list of all members, and adding one; `acting`: what the caller may do with a member, or why not
- `one`: a member's page; `editing`: their name and e-mail address
- `reach`: everything that they can reach, by workspace and kind, and through what
- `roles`: tenant and security roles, of members and of groups; `joining`: the groups that they are in
- `signing`: where they are signed in, and links that let them in
- `services`: service accounts and their tokens
- `leaving`: how a member is removed, and what becomes of what they own
- `picking`: choosing a member or a group in a form, however many there are
"""
