"""Data marts: tried out before they are kept, published or a draft, and how their checks came out."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from pydantic import Field

from lakehold.api.catalog.shown import Settings
from lakehold.api.frame.callers import shown_by
from lakehold.api.frame.models import Answer, Body, IdText, Time, time_of
from lakehold.api.frame.routes import SIGNED, problems, router
from lakehold.api.frame.works import Asked, Reading, Writing, house_of
from lakehold.api.iceberg.catalog import InLake
from lakehold.api.marts import storages
from lakehold.api.marts.storages import Id, Secrets, StorageSample
from lakehold.catalog import kinds
from lakehold.directory.caller import Caller
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.workspaces.marts import checks, mart_probe
from lakehold.workspaces.marts.checks import load_checks
from lakehold.workspaces.marts.definitions import DATA_MART_LABEL, DefinitionType, MartDefinition
from lakehold.workspaces.marts.mart_probe import FeedProbeTarget, StorageProbeResult
from lakehold.workspaces.marts.pipelines import data_mart
from lakehold.workspaces.marts.storages import StorageProbeTarget
from lakehold.workspaces.settings_reader import SettingsReader

routes = router("/api/v1/marts", "Data marts")

_MOST = 1_000


class CheckOutcome(Answer):
    """How a check came out."""

    name: str = Field(examples=["unique id"])
    state: str = Field(examples=["kept"], description="kept, broken, or unknown if it could not be looked at.")
    said: str = Field(examples=["as it should be"])
    at: Time


class CheckOutcomes(Answer):
    """The newest first."""

    items: list[CheckOutcome]


class MartTrial(Body):
    """A data mart that is not kept yet."""

    storage: IdText = Field(examples=["lake"], description="Where it would draw from.")
    settings: Settings = Field(examples=[{"by": "table", "table": "shaped.daily_sales"}])
    mart: Id = Field(default="", description="One that is there: where a connector feeds it, its credentials are used.")
    credentials: Secrets = Field(default_factory=dict, examples=[{}], description="Of a connector. Not kept.")


@routes.post("/try", openapi_extra=SIGNED, responses=problems(400, 401, 403, 404, 409, 503))
def try_mart(request: Request, body: MartTrial) -> StorageSample:
    """The fields and first rows that a data mart defined so would have. For those who may use the storage.

    Of one that a connector feeds: for those who may edit it, or make one.
    """
    told = SettingsReader(body.settings, DATA_MART_LABEL)
    definition = MartDefinition.from_settings(told)
    load_checks(told)
    if definition.by is DefinitionType.CONNECTOR:
        seen = _fed(request, body, definition.text)
    else:
        seen = storages.look(request, StorageProbeTarget(body.storage, by=definition.by.value, text=definition.text))
    for said in mart_probe.definition_errors(definition, seen.fields).values():
        raise InvalidInputError(said, "Correct the settings.")
    return storages.sample(seen)


def _fed(request: Request, body: MartTrial, stream: str) -> StorageProbeResult:
    """A look that the caller may take, outside of the transaction that lets them."""

    def begun(ctx: RequestContext) -> tuple[Caller, FeedProbeTarget]:
        ctx.need_visible(body.storage, "use")
        ctx.need("use", body.storage)
        project = kinds.workspace_of(ctx.view, body.storage) or ""
        asked = FeedProbeTarget(body.settings, body.mart, project, body.credentials, stream)
        mart_probe.need_feed_probe(ctx, asked)
        return ctx.caller, asked

    found = mart_probe.probe_feed(house_of(request), *Asked(request, shown_by(request), writes=False).run(begun))
    return StorageProbeResult(fields=found["fields"], rows=found["rows"], notes=found["notes"])


@routes.get("/{mart}/checks")
def list_check_outcomes(
    ctx: Reading, mart: IdText, limit: Annotated[int, Query(ge=1, le=_MOST)] = 200
) -> CheckOutcomes:
    """How the checks of a data mart have come out, for those who see it."""
    found = checks.list_results(ctx, mart, limit=limit)
    return CheckOutcomes(
        items=[CheckOutcome(name=each.name, state=each.state, said=each.said, at=time_of(each.at)) for each in found]
    )


@routes.post("/{mart}/publish", status_code=204, responses=problems(409))
def publish_mart(ctx: Writing, lake: InLake, mart: IdText) -> None:
    """Let a data mart be reported on."""
    data_mart.publish(ctx, lake, mart)


@routes.post("/{mart}/unpublish", status_code=204)
def unpublish_mart(ctx: Writing, mart: IdText) -> None:
    """Make a draft of a data mart again."""
    data_mart.unpublish(ctx, mart)
