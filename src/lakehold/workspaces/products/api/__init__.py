"""REST endpoints that only data products have, beside those of every resource.

- `entities`: entities of the published version: search, one, its records
- `versions`: versions of a data product, and publishing
"""

from fastapi import APIRouter

from lakehold.workspaces.products.api import entities, versions

ROUTERS: list[APIRouter] = [versions.routes, entities.routes]
"""In the order of the OpenAPI document."""
