"""The subcommands, a module for each topic. A command imports what it needs when it is called, so that `lakehold
--help` is fast.

- `noun`: a noun whose verbs are requests of the REST API
- `access`: check, explain, who, can, review; the audit log
- `access_as_code`: export, plan, apply, test
- `data`: sql; run, runs, stop, resume, logs; table, lineage
- `data_projects`: project export, plan, apply
- `resources`: workspaces and their members; resources of every kind; grant, revoke, grants; access requests
- `people`: members and service accounts, groups, invites, API tokens
- `network_policy`: which hosts and mail domains connections may reach
- `operations`: up, server, worker, query-worker, init, login, logout, key; demo, tour, docs
"""
