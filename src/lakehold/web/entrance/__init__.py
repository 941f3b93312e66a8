"""The entrance: every page for who is not in yet, and the way out.

- `sign_in`, `sign_out`: with a password, or with a link by mail; and out again
- `links`: a link that signs in; looking at it does not use it
- `new_passwords`: forgotten, and set anew with a link
- `first_runs`: the first tenant and its Owner, with the demo company if they like
- `invites`: an invite is accepted, by somebody new or by a member
- `doors`: what all of them do at the end: the cookie is set, or taken away
- `shut`: the page behind which nothing is any more; `faults`: what is wrong with a form, field by field
"""
