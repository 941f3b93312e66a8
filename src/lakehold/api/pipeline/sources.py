"""Sources before they are run: what streams one has, and how one of them looks."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Request
from pydantic import Field

from lakehold.api.catalog.shown import Settings
from lakehold.api.frame.callers import shown_by
from lakehold.api.frame.models import Answer, Body, IdText, PlainText
from lakehold.api.frame.routes import SIGNED, problems, router
from lakehold.api.frame.works import Asked, house_of
from lakehold.directory.caller import Caller
from lakehold.directory.request_context import RequestContext
from lakehold.runs import worker_client
from lakehold.workspaces.lakehouse import connection_access

routes = router("/api/v1/sources", "Sources")

Id = Annotated[str, Field(max_length=200, examples=[""])]


class SourceLook(Body):
    """A source that is there, or one that would be made into a layer."""

    settings: Settings = Field(examples=[{"connector": "files", "volume": "raw_files"}])
    source: Id = Field(default="", description="One that is there: its credentials are used.")
    lakehouse: Id = Field(default="", description="Where one would be made.")
    layer: Id = Field(default="", description="The layer that it would write into.")
    credentials: dict[IdText, Annotated[str, Field(max_length=20_000, examples=[""])]] = Field(
        default_factory=dict, examples=[{}], description="Not kept."
    )
    stream: PlainText = Field(default="", description="The one that a sample is wanted of.")
    how: Settings = Field(default_factory=dict, examples=[{}], description="The settings of that stream.")


class SourceSeen(Answer):
    """What there is."""

    streams: list[dict[str, Any]] = Field(default=[], examples=[[{"name": "public.orders"}]])
    fields: list[dict[str, Any]] = Field(default=[], examples=[[{"name": "id", "type": "bigint"}]])
    rows: list[list[Any]] = Field(default=[], examples=[[[1]]])
    notes: list[str] = Field(default=[], examples=[[]])
    format: dict[str, Any] | None = Field(default=None, examples=[{"kind": "separated"}])


@routes.post("/look", openapi_extra=SIGNED, responses=problems(400, 401, 403, 404, 409, 503))
def look_at_source(request: Request, body: SourceLook) -> SourceSeen:
    """Connect to a source and look: its streams, or a sample of one. Only for those who may make or edit it."""

    def let_in(ctx: RequestContext) -> Caller:
        connection_access.need_source_probe(ctx, body.source, body.lakehouse, body.layer)
        return ctx.caller

    caller = Asked(request, shown_by(request), writes=False).run(let_in)
    asked = body.model_dump()
    return SourceSeen(
        **worker_client.probe_source(house_of(request), caller, {**asked, "secrets": asked.pop("credentials")})
    )
