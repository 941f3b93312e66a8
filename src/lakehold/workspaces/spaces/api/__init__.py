"""REST endpoints that only data spaces have, beside those of every resource.

- `projects`: a data project as a file: export, plan, apply
"""

from fastapi import APIRouter

from lakehold.workspaces.spaces.api import projects

ROUTERS: list[APIRouter] = [projects.routes]
"""In the order of the OpenAPI document."""
