"""The routers of data, in the order of the document."""

from __future__ import annotations

from fastapi import APIRouter

from lakehold.api.pipeline import (
    integrations,
    lineages,
    queries,
    runs,
    sources,
    tables,
    texts,
    triggers,
    upkeeps,
    volumes,
)

ROUTERS: list[APIRouter] = [
    queries.routes,
    texts.routes,
    runs.routes,
    sources.routes,
    integrations.routes,
    lineages.routes,
    tables.routes,
    upkeeps.routes,
    upkeeps.dropped_routes,
    triggers.routes,
    volumes.routes,
]
