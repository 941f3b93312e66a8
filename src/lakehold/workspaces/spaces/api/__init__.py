"""REST endpoints that only data spaces have.

- `tasks`: validate and prepare data tasks; preview a transform
"""

from fastapi import APIRouter

from lakehold.workspaces.spaces.api import tasks

ROUTERS: list[APIRouter] = [tasks.routes]
