"""The routers of the catalog, in the order of the document."""

from __future__ import annotations

from fastapi import APIRouter

from lakehold.api.catalog import (
    credentials,
    discoveries,
    grants,
    kinds,
    moves,
    owners,
    requests,
    resources,
    usages,
    view_as,
    workspaces,
)

ROUTERS: list[APIRouter] = [
    kinds.routes,
    workspaces.routes,
    resources.routes,
    moves.routes,
    owners.routes,
    grants.routes,
    grants.held,
    grants.who,
    credentials.routes,
    requests.routes,
    discoveries.routes,
    view_as.routes,
    usages.routes,
    usages.of_resource,
]
