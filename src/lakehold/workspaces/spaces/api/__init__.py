"""REST endpoints that only data spaces have, beside those of every resource.

- `spaces`: the caller's personal space, and the monitor of all tasks
- `projects`: a data project as a file: export, plan, apply
- `tasks`: validate and prepare data tasks; preview a transform
- `gateways`: registration codes, registration, status, log, rotation and revocation of gateways
- `apps`: the data of an app
- `change_captures`: the replication slots of a landing task
"""

from fastapi import APIRouter

from lakehold.workspaces.spaces.api import apps, change_captures, gateways, projects, spaces, tasks

ROUTERS: list[APIRouter] = [
    *(spaces.routes, projects.routes, tasks.routes),
    *(change_captures.routes, gateways.routes, apps.routes),
]
"""In the order of the OpenAPI document."""
