"""REST endpoints of the directory, a module for each noun.

- `sign_in`: the first run, sign-in, sign-out and the session cookie
- `me`: the caller, their sign-ins and their password
- `members`: members, their removal, and service accounts
- `groups`: groups and their members
- `invites`: invites and their acceptance
- `tokens`: API tokens
- `schemas`: response models and field types that these share
"""
