"""REST endpoints that only data products have, beside those of every resource.

- `sources`: the profile of the columns of a source
- `versions`: versions of a data product, and publishing
- `entities`: entities of the published version: search, one, its records
- `schemas`: what several endpoints of curation take and answer
- `pair_queue`: the queue of uncertain pairs, answers, assignment and progress
- `curation_acts`: overrides, merges, splits, moves, new entities, verifications, comments; history and undo
- `merge_suggestions`: suggested merges
- `named_views`: filters and columns under a name
"""

from fastapi import APIRouter

from lakehold.workspaces.products.api import (
    curation_acts,
    entities,
    merge_suggestions,
    named_views,
    pair_queue,
    sources,
    versions,
)

ROUTERS: list[APIRouter] = [
    *(sources.routes, versions.routes, entities.routes),
    *(pair_queue.routes, curation_acts.routes, merge_suggestions.routes, named_views.routes),
]
"""In the order of the OpenAPI document."""
