"""Moving a resource, and what that would do."""

from __future__ import annotations

from pydantic import Field

from lakehold.api.access.what_ifs import told
from lakehold.api.catalog import shown
from lakehold.api.catalog.shown import EffectsJson, ResourceId, ResourceJson
from lakehold.api.frame.etags import IfMatch
from lakehold.api.frame.models import Body, IdText
from lakehold.api.frame.routes import problems, router
from lakehold.api.frame.works import Reading, Writing
from lakehold.catalog import resource_edit

routes = router("/api/v1/resources/{resource}/move", "Resources")


class Target(Body):
    """Where it is to lie."""

    to: IdText = Field(examples=["clean"])


@routes.post("", responses=problems(412, 428))
def move_resource(ctx: Writing, resource: ResourceId, body: Target, seen: IfMatch) -> ResourceJson:
    """Let a resource lie in another parent.

    What was granted on it stays; what came from above is another's now. Rights are needed on both sides.
    """
    resource_edit.need_reparent(ctx, resource, body.to)
    seen.need(shown.shown(ctx, resource))
    resource_edit.reparent(ctx, resource, body.to)
    return shown.shown(ctx, resource)


@routes.post("/preview")
def preview_move(ctx: Reading, resource: ResourceId, body: Target) -> EffectsJson:
    """Who would win and lose what by a move? For who may make it."""
    return EffectsJson(groups=told(resource_edit.preview_reparent(ctx, resource, body.to)))
