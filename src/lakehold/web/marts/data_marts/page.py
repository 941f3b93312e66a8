"""A data mart by itself: how it stands, who keeps it, whom it is for; published, and made a draft again."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fastapi import Request, Response

from lakehold.api.catalog import resource_usage
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, WriteContext
from lakehold.api.iceberg_rest import CurrentLake
from lakehold.catalog import kinds
from lakehold.catalog.resource_view import ResourceView, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment, to_moment
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.lake import readable_tables
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.cookies import Flash
from lakehold.web.labels import humanize
from lakehold.web.lakehouse import pipeline, saying, schedules
from lakehold.web.lakehouse.doing import TRIGGERS
from lakehold.web.lakehouse.runs import rows
from lakehold.web.marts.data_marts import form, reports
from lakehold.web.marts.data_marts.routes import need_mart
from lakehold.web.routing import router
from lakehold.workspaces.graph import edge_targets
from lakehold.workspaces.marts import checks as quality
from lakehold.workspaces.marts.checks import BROKEN, KEPT, load_checks
from lakehold.workspaces.marts.pipelines import data_mart
from lakehold.workspaces.marts.pipelines.data_mart import mart_settings

routes = router("/resources")

_LATEST = 5
_BYS = {word: label for word, label, _ in form.BYS} | {"connector": "A connector of its own"}
_MODES = {word: label for word, label, _ in form.MODES_SAID}
_LABELS = {"Run now": "Refresh now"}


@dataclass(frozen=True, slots=True)
class Standing:
    """How it stands."""

    published: bool
    rows: int | None = None
    size: str = ""
    fresh: Moment | None = None
    """When its rows were written."""
    checks: int = 0
    kept: int = 0
    broken: int = 0


@routes.get("/{uid:path}/mart")
def mart_page(request: Request, ctx: ReadContext, platform: CurrentPlatform, lake: CurrentLake, uid: str) -> Response:
    """It, as the caller may see it."""
    found = need_mart(ctx, uid)
    resource_usage.record(platform, ctx, kinds.catalog_kind(ctx.view.policy, found.kind).visible, uid)
    schema, eyes = kinds.catalog_kind(ctx.view.policy, found.kind), VisibleRefs(ctx)
    standing = _standing(ctx, lake, uid)
    around = pipeline.shown(ctx, found, "mart")
    joined = edge_targets(ctx, uid, "joins")
    drawn = edge_targets(ctx, uid, "storage")
    values: dict[str, object] = {
        **around,
        "run_now": [replace(act, label=_LABELS.get(act.label, act.label)) for act in _actions(around["run_now"])],
        "publish": _publish(ctx, found, standing),
        "standing": standing,
        "definition": _definition(found),
        "sql": str((found.settings or {}).get("sql", "")),
        "storage": eyes.refs(drawn),
        "more_storage": not all(map(eyes.sees, drawn)),
        "joins": eyes.refs(joined),
        "more_joins": not all(map(eyes.sees, joined)),
        "owners": [(schema.roles[role].title, held) for role, held in found.owners.items()],
        "toggles": [(humanize(name), value == "true") for name, value in found.attributes.items()],
        "contexts": list(found.edges.get("contexts", ())),
        "reports": reports.of_mart(ctx, uid)[: _LATEST + 1],
        "latest": _LATEST,
        "new_report": reports.new(found),
        "runs": rows(ctx, pipeline.latest(ctx, found, _LATEST)),
        "triggers": TRIGGERS.for_resource(ctx, uid) if pipeline.sees_runs(found) else [],
        "said": schedules.said,
        "followed": lambda trigger: eyes.refs(trigger.when.after),
        "may": resource_header.actions_of(ctx, uid),
        "tones": saying.TONES,
        "signs": saying.SIGNS,
    }
    return pages.render(request, "marts/mart.html", values)


@routes.post("/{uid:path}/mart/publish")
def publish(request: Request, ctx: WriteContext, lake: CurrentLake, uid: str) -> Response:
    """Let it be reported on."""
    found, here = need_mart(ctx, uid), urls.resource(uid, "mart")
    try:
        data_mart.publish(ctx, lake, uid)
    except (ConflictError, InvalidInputError) as error:
        return pages.redirect(request, here, Flash(str(error), tone="bad"))
    return pages.redirect(request, here, Flash(f"{found.name} is published.", undo=f"{here}/unpublish"))


@routes.post("/{uid:path}/mart/unpublish")
def unpublish(request: Request, ctx: WriteContext, uid: str) -> Response:
    """Make a draft of it again."""
    found, here = need_mart(ctx, uid), urls.resource(uid, "mart")
    data_mart.unpublish(ctx, uid)
    return pages.redirect(request, here, Flash(f"{found.name} is a draft again.", undo=f"{here}/publish"))


def _standing(ctx: RequestContext, lake: IcebergCatalog, uid: str) -> Standing:
    told = mart_settings(ctx, uid)
    try:
        names = {check.name for check in load_checks(told)}
    except InvalidInputError:
        names = set()
    last: dict[str, str] = {}
    for each in quality.list_results(ctx, uid):
        if each.name in names:
            last.setdefault(each.name, each.state)
    said = list(last.values())
    standing = Standing(
        told.raw.get("published") is True, checks=len(names), kept=said.count(KEPT), broken=said.count(BROKEN)
    )
    try:
        now = lake.current_metadata(readable_tables.identifier_of(ctx, uid))
    except OSError:
        return standing
    if now is None or now.current is None:
        return standing
    total, size = now.current.count("total-records"), now.current.count("total-files-size")
    return replace(standing, rows=total, size=saying.size(size), fresh=to_moment(now.current.at))


def _definition(found: ResourceView) -> list[tuple[str, str]] | None:
    """How it is set, in words; None for who may not know."""
    told = found.settings
    if told is None:
        return None
    by, mode = str(told.get("by", "")), str(told.get("mode", "full"))
    if by not in _BYS:
        return []
    facts = [("Defined by", _BYS[by])]
    facts += [(by.capitalize(), str(told.get(by, "")))] if by != "sql" else []
    facts += [("Stream", str(told.get("stream", "")))] if by == "connector" else []
    facts.append(("Rows that are there", _MODES.get(mode, mode)))
    keys = told.get("keys")
    facts += [("Primary key", ", ".join(map(str, keys)))] if isinstance(keys, list) and keys else []
    facts += [("Cursor", str(told["cursor"]))] if told.get("cursor") else []
    return [*facts, *([("Copy in the storage", str(told["kept_as"]))] if told.get("kept_as") else [])]


def _publish(ctx: RequestContext, found: ResourceView, standing: Standing) -> PageAction:
    here = urls.resource(found.uid, "mart")
    if standing.published:
        asks = f"Make a draft of {found.name} again? Reports on it are refused until it is back."
        act = PageAction("Unpublish", f"{here}/unpublish", "post", "undo-2", confirm=asks)
    else:
        act = PageAction("Publish", f"{here}/publish", "post", "circle-check")
    told = resource_header.actions_of(ctx, found.uid, {"edit": act})[0]
    if not told.why_not and not standing.published and standing.rows is None:
        return replace(told, why_not="It has no rows yet. Refresh it once, then publish it.")
    return told


def _actions(told: object) -> list[PageAction]:
    return [act for act in told if isinstance(act, PageAction)] if isinstance(told, list) else []
