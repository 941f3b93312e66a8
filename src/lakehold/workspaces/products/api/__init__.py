"""REST endpoints that only data products have, beside those of every resource.

- `schemas`: request and response models that several endpoints share
- `curation_acts`: overrides, merges, splits, moves, new entities, verifications, comments; history and undo
- `pair_queue`: the queue of uncertain pairs, answers, assignment and progress
- `merge_suggestions`: suggested merges
- `named_views`: filters and columns under a name
"""

from fastapi import APIRouter

from lakehold.workspaces.products.api import curation_acts, merge_suggestions, named_views, pair_queue

ROUTERS: list[APIRouter] = [pair_queue.routes, curation_acts.routes, merge_suggestions.routes, named_views.routes]
"""In the order of the OpenAPI document."""
