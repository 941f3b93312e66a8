"""REST endpoints that only data spaces have, beside those of every resource.

- `gateways`: registration codes, registration, status, log, rotation and revocation of gateways
"""

from fastapi import APIRouter

from lakehold.workspaces.spaces.api import gateways

ROUTERS: list[APIRouter] = [gateways.routes]
"""In the order of the OpenAPI document."""
