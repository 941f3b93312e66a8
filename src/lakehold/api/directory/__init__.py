"""REST endpoints of the directory, a module for each noun.

- `sign_in`: the first run, sign-in, sign-out and the session cookie
- `me`: the caller, their sign-ins, their password, and impersonation by admins
- `members`: members and groups; the removal of members; service accounts
- `invites`: invites and their acceptance
- `tokens`: API tokens
- `schemas`: response models and field types that these share
"""
