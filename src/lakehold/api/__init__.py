"""REST under `/api/v1`, AuthZEN under `/access/v1`, the Iceberg REST catalog under `/iceberg/v1`.

Endpoints call the services and decide nothing themselves. The endpoints of a single way of working are in its
folder below `lakehold.workspaces`. How an endpoint is written is described in `lakehold.api.http.routing`.

- `http`: the application, middleware, authentication, transactions, errors, paging, OpenAPI
- `access`: check, explain, list, what-if, audit log, access models, reviews
- `access_as_code`: export, plan, apply and test a tenant as files
- `authzen`: the AuthZEN Authorization API 1.0
- `catalog`: workspaces, resources, grants, access requests, usage
- `directory`: sign-in, members, groups, invites, API tokens
- `iceberg_rest`: the Iceberg REST catalog
- `lake`: queries, tables, lineage
- `runs`: start, stop, resume, retry and delete runs; triggers
- `routers`: the list of all routers; a router in it is served, documented, fuzzed and crawled
"""
