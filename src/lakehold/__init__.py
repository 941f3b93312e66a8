"""Lakehold: a self-hosted data platform on Apache Spark where one access engine decides everything.

Imports point down this list; `make check` enforces it.

- `cli`: the `lakehold` command, and the processes that it starts
- `workspaces`: one folder for each way of working: marts, lakehouse, spaces, products; and the registry that finds them
- `web`: the shell of the web app, and the pages that all workspaces share
- `worker`: the process that owns Spark and executes runs, jobs and queries
- `demo`: the company of the demo, the tests and the documentation
- `api`: REST and AuthZEN that all workspaces share, and the Iceberg REST catalog
- `access_as_code`: a tenant as YAML files: export, plan, apply, test
- `runs`: runs, queue, scheduler, background jobs, notifications
- `connectors`: the sources and destinations of rows
- `lake`: tables on Iceberg, volumes, previews; Spark, its guard and the sessions of users
- `catalog`: workspaces, resources, grants, requests and access reviews
- `directory`: tenants, members, groups, invites, sign-in, tokens
- `access`: the access engine: models, facts, check, list, who, explain, what-if, review
- `ledger`: change log, audit log and outbox, in commit order
- `kit`: foundations that know nothing of data or access
- `migrations`: the versions of the database
"""
