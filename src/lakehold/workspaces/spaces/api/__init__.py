"""REST endpoints that only data spaces have, beside those of every resource.

- `spaces`: the caller's personal space, and the monitor of all tasks
- `projects`: a data project as a file: export, plan, apply
"""

from fastapi import APIRouter

from lakehold.workspaces.spaces.api import projects, spaces

ROUTERS: list[APIRouter] = [spaces.routes, projects.routes]
"""In the order of the OpenAPI document."""
