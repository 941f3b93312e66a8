"""Endpoints of data marts. Preview a definition, publish, and outcomes of checks."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from pydantic import Field

from lakehold.api.catalog.schemas import SettingsJson
from lakehold.api.http.dependencies import ReadContext, WriteContext, get_platform, read_transaction
from lakehold.api.http.models import IdText, RequestModel, ResponseModel, Time, to_datetime
from lakehold.api.http.routing import REQUIRES_SIGN_IN, make_router, problem_responses
from lakehold.api.iceberg_rest import CurrentLake
from lakehold.catalog import kinds
from lakehold.directory.caller import Caller
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.workspaces.marts import checks, mart_probe
from lakehold.workspaces.marts.api import storages
from lakehold.workspaces.marts.api.storages import OptionalId, SecretTexts, StorageSampleJson
from lakehold.workspaces.marts.mart_probe import FeedProbeTarget, StorageProbeResult
from lakehold.workspaces.marts.pipelines import data_mart
from lakehold.workspaces.marts.settings import DefinitionType, parse_definition
from lakehold.workspaces.marts.storages import StorageProbeTarget

routes = make_router("/api/v1/marts", "Data marts")

_MAX_OUTCOMES = 1_000


class CheckOutcomeJson(ResponseModel):
    """The outcome of a check."""

    name: str = Field(examples=["unique id"])
    state: str = Field(examples=["kept"], description="kept, broken, or unknown if it could not be looked at.")
    said: str = Field(examples=["as it should be"])
    at: Time


class CheckOutcomeListJson(ResponseModel):
    """Outcomes of checks, newest first."""

    items: list[CheckOutcomeJson]


class MartPreviewBody(RequestModel):
    """A data mart to preview before it is saved."""

    storage: IdText = Field(examples=["lake"], description="Where it would draw from.")
    settings: SettingsJson = Field(examples=[{"by": "table", "table": "shaped.daily_sales"}])
    mart: OptionalId = Field(
        default="", description="One that is there: where a connector feeds it, its credentials are used."
    )
    credentials: SecretTexts = Field(default_factory=dict, examples=[{}], description="Of a connector. Not kept.")


@routes.post("/try", openapi_extra=REQUIRES_SIGN_IN, responses=problem_responses(400, 401, 403, 404, 409, 503))
def try_mart(request: Request, body: MartPreviewBody) -> StorageSampleJson:
    """Preview the fields and first rows of a data mart before it is saved. For those who may use the storage.

    Of one that a connector fills, for those who may edit it or create one.
    """
    definition = parse_definition(body.settings)
    if definition.by is DefinitionType.CONNECTOR:
        seen = _probe_connector(request, body, definition.text)
    else:
        seen = storages.run_probe(
            request, StorageProbeTarget(body.storage, by=definition.by or "", text=definition.text)
        )
    for message in mart_probe.definition_errors(definition, seen.fields).values():
        raise InvalidInputError(message, "Correct the settings.")
    return storages.sample_json(seen)


def _probe_connector(request: Request, body: MartPreviewBody, stream: str) -> StorageProbeResult:
    """Probe a connector outside of the transaction that checks the right to do so."""

    def begun(ctx: RequestContext) -> tuple[Caller, FeedProbeTarget]:
        ctx.need_visible(body.storage, "use")
        ctx.need("use", body.storage)
        project = kinds.workspace_of(ctx.view, body.storage) or ""
        feed = FeedProbeTarget(body.settings, body.mart, project, body.credentials, stream)
        mart_probe.need_feed_probe(ctx, feed)
        return ctx.caller, feed

    found = mart_probe.probe_feed(get_platform(request), *read_transaction(request).run(begun))
    return StorageProbeResult(fields=found["fields"], rows=found["rows"], notes=found["notes"])


@routes.get("/{mart}/checks")
def list_check_outcomes(
    ctx: ReadContext, mart: IdText, limit: Annotated[int, Query(ge=1, le=_MAX_OUTCOMES)] = 200
) -> CheckOutcomeListJson:
    """List the outcomes of a data mart's checks, for those who see it."""
    found = checks.list_results(ctx, mart, limit=limit)
    return CheckOutcomeListJson(
        items=[
            CheckOutcomeJson(name=each.name, state=each.state, said=each.said, at=to_datetime(each.at))
            for each in found
        ]
    )


@routes.post("/{mart}/publish", status_code=204, responses=problem_responses(409))
def publish_mart(ctx: WriteContext, lake: CurrentLake, mart: IdText) -> None:
    """Publish a data mart, so that reports can use it."""
    data_mart.publish(ctx, lake, mart)


@routes.post("/{mart}/unpublish", status_code=204)
def unpublish_mart(ctx: WriteContext, mart: IdText) -> None:
    """Unpublish a data mart, which becomes a draft again."""
    data_mart.unpublish(ctx, mart)
