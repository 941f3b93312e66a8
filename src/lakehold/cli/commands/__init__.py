"""The subcommands, a module for each topic. A command imports what it needs when it is called, so that `lakehold
--help` is fast.

- `access`: check, explain, who, can, review
- `audit`: the audit log
- `access_as_code`: export, plan, apply, test
- `data`: sql; run, runs, stop, resume, logs; table, lineage
- `workspaces`: workspaces and their members
- `resources`: resources of every kind
- `grants`: grant, revoke, grants
- `requests`: access requests
- `members`: members and service accounts
- `groups`: groups
- `invites`: invites
- `tokens`: API tokens
- `operations`: up, server, worker, init, login, logout, key
- `demo`: demo, tour, docs
"""
