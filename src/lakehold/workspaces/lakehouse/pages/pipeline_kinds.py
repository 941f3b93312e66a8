"""The kinds of a lakehouse that move data, and which of them have a form or a backfill."""

from __future__ import annotations

from lakehold.catalog import kinds, resources
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.workspaces.registry import kind_descriptors

_OVERVIEW, _EDIT_FORM = "pipeline", "pipeline/edit"
_KINDS = {kind: found for kind, found in kind_descriptors().items() if kind.startswith("lakehouse.")}
PIPELINE_KINDS = tuple(kind for kind, found in _KINDS.items() if found.overview == _OVERVIEW)
"""The kinds that move data."""
FORM_KINDS = frozenset(kind for kind, found in _KINDS.items() if found.edit_form == _EDIT_FORM)
"""The kinds that have the form of a pipeline."""
BACKFILL_KINDS = frozenset({"lakehouse.source", "lakehouse.query"})
"""What a part of can be run anew."""


def need_pipeline(ctx: RequestContext, uid: str) -> ResourceView:
    """Return the pipeline; raise InvalidInputError if the resource is not one."""
    found = resources.get(ctx, uid)
    if found.kind not in PIPELINE_KINDS:
        title = kinds.catalog_kind(ctx.view.policy, found.kind).title
        raise InvalidInputError(f"A {title.lower()} is not a pipeline.", "Open the list of pipelines.")
    return found
