"""How the checks of a data mart came out: the last time, and before."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog import resources
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.runs.runnable import RunOptions
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.cookies import Flash
from lakehold.web.lakehouse.doing import RUNS
from lakehold.web.lakehouse.frames import shell
from lakehold.web.routing import router
from lakehold.workspaces.marts import checks, mart_kinds
from lakehold.workspaces.marts.checks import BROKEN, KEPT, UNKNOWN, CheckResult, load_checks
from lakehold.workspaces.marts.pipelines.data_mart import CHECK_TASK, TASK_PARAMETER, mart_settings

routes = router("/resources")

TONES = {KEPT: "good", BROKEN: "bad", UNKNOWN: "warn"}
_DRAWN = 30


@dataclass(frozen=True, slots=True)
class Promise:
    """A check, how it came out last, and how before: the oldest first."""

    name: str
    last: CheckResult | None
    before: list[CheckResult]
    actions: list[PageAction]
    """What whoever edits the mart can do with it."""


@routes.get("/{uid:path}/quality")
def quality_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Those that the mart has now; what was checked once and is no more is not shown."""
    found = _need(ctx, uid)
    trouble = None
    try:
        names = [check.name for check in load_checks(mart_settings(ctx, uid))]
    except InvalidInputError as error:
        names, trouble = [], error
    values: dict[str, object] = {
        "promises": _promises(found, names, checks.list_results(ctx, uid, limit=1_000)),
        "trouble": trouble,
        "tones": TONES,
        "look": _looks(ctx, uid, some=bool(names)),
        "edits": found.may_edit,
    }
    return pages.render(request, "marts/quality.html", {**shell(ctx, found, "quality"), **values})


@routes.post("/{uid:path}/quality")
def check_now(request: Request, ctx: WriteContext, uid: str) -> Response:
    """Look at them, without a refresh."""
    _need(ctx, uid)
    try:
        started = RUNS.start(ctx, uid, RunOptions(parameters={TASK_PARAMETER: CHECK_TASK}))
    except (ConflictError, InvalidInputError) as error:
        return pages.redirect(request, urls.resource(uid, "quality"), Flash(str(error), tone="bad"))
    return pages.redirect(request, urls.run(started.id), Flash("The checks are looked at."))


def _need(ctx: RequestContext, uid: str) -> ResourceView:
    found = resources.get(ctx, uid)
    if found.kind != mart_kinds.DATA_MART_KIND:
        raise NotFoundError(f"There is no data mart {quote(uid)}.", "Look its name up in the project.")
    ctx.need("see", uid)
    return found


def _looks(ctx: RequestContext, uid: str, *, some: bool) -> list[PageAction]:
    new = PageAction("New check", urls.resource(uid, "checks"), icon="plus")
    now = PageAction("Check now", urls.resource(uid, "quality"), "post", "circle-check")
    return [
        act for each in ((now, new) if some else (new,)) for act in resource_header.actions_of(ctx, uid, {"edit": each})
    ]


def _promises(found: ResourceView, names: list[str], outcomes: list[CheckResult]) -> list[Promise]:
    by_name: dict[str, list[CheckResult]] = {name: [] for name in names}
    for outcome in outcomes:
        if len(before := by_name.get(outcome.name, [])) < _DRAWN:
            before.append(outcome)
    return [
        Promise(name, some[0] if some else None, some[::-1], _edits(found, n) if found.may_edit else [])
        for n, (name, some) in enumerate(by_name.items())
    ]


def _edits(found: ResourceView, n: int) -> list[PageAction]:
    here, sent = urls.resource(found.uid, "checks"), (("n", str(n)), ("version", str(found.version)))
    asks = "Take this check away?"
    return [
        PageAction("Change", f"{here}?n={n}", icon="pencil"),
        PageAction("Take away", f"{here}/remove", "post", "trash-2", sent, asks, danger=True),
    ]
