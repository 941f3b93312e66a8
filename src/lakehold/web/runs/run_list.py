"""The list of the runs of a workspace, and the rows in which lists show runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext
from lakehold.catalog import kinds, workspaces
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs, make_ref
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import NotFoundError
from lakehold.runs.service import Run
from lakehold.web import pages
from lakehold.web.access import resource_header
from lakehold.web.labels import humanize
from lakehold.web.list_view import ListFilter, ListState
from lakehold.web.routing import router
from lakehold.web.runs import RUNS, labels
from lakehold.workspaces.descriptor import RunListTexts
from lakehold.workspaces.registry import find_workspace, runnable_kinds

routes = router("/workspaces")

STATE_FILTER = ListFilter("state", "State", tuple((state, humanize(state)) for state in labels.TONES))
_MAX_SCANNED = 200
_MOST_OPTIONS = 200


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run in a list."""

    run: Run
    resource: ResourceRef
    whom: ResourceRef | None
    cause: labels.CauseLabel
    took: str


@routes.get("/{uid:path}/runs")
def runs_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the runs that the caller may see, newest first."""
    workspaces.need_workspace(ctx, uid)
    visible = runnable_options(ctx, uid, lambda kind: ctx.view.policy.kind(kind).schema.visible)
    filters = (STATE_FILTER, ListFilter("pipeline", "Of", tuple(visible)), _member_filter(ctx, uid))
    listing = ListState.from_request(request, ("-made",), filters)
    workspace = find_workspace(kinds.schema_of(ctx.view, uid).id)
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, uid, "Runs"),
        "uid": uid,
        "texts": workspace.run_list_texts if workspace else RunListTexts(),
        **list_values(ctx, listing, _load_runs(ctx, uid, listing)),
    }
    return pages.render(request, "runs/runs.html", values)


def list_values(ctx: RequestContext, listing: ListState, found: Sequence[Run]) -> dict[str, object]:
    """Return the template values of a list of runs, of which one more than a page holds was loaded."""
    after = found[listing.size - 1].id if len(found) > listing.size else ""
    return listing.cursor_values(run_rows(ctx, found[: listing.size]), after)


def run_rows(ctx: RequestContext, found: Sequence[Run]) -> list[RunRow]:
    """Convert runs to rows of a list."""
    visible = VisibleRefs(ctx)
    return [run_row(ctx, visible, run) for run in found]


def run_row(ctx: RequestContext, visible: VisibleRefs, run: Run) -> RunRow:
    """Return a run with what it runs, why, for whom and how long."""
    took = labels.run_duration(run.started_at, run.ended_at, ctx.at)
    return RunRow(run, make_ref(ctx.view, run.resource), visible.ref(run.started_by), labels.run_cause(ctx, run), took)


def _load_runs(ctx: RequestContext, uid: str, listing: ListState) -> list[Run]:
    """Return one run more than a page holds, so that the caller knows whether there is another page."""
    chosen = listing.chosen
    asked = {"state": chosen["state"] or None, "resource": chosen["pipeline"] or None, "by": chosen["who"] or None}
    limit, search = listing.size + 1, listing.search
    try:
        return RUNS.page(ctx, within=uid, search=search, before=listing.after or None, limit=limit, **asked)
    except NotFoundError:
        return RUNS.page(ctx, within=uid, search=search, limit=limit, **asked)


def runnable_options(ctx: RequestContext, within: str | None, right: Callable[[str], str]) -> list[tuple[str, str]]:
    """Return ids and names of what can be run, by name, as far as the caller has the right that a kind asks for."""
    found: list[tuple[str, str]] = []
    for kind in runnable_kinds():
        some = ctx.session.list(ctx.principal, right(kind), kind, within=within, limit=_MOST_OPTIONS).items
        found += [(item.uid, item.name) for item in some]
    return sorted(found, key=lambda pair: pair[1].casefold())


def _member_filter(ctx: RequestContext, uid: str) -> ListFilter:
    """Return a filter by the members that the latest runs are for, as far as the caller may see them."""
    members = dict.fromkeys(run.started_by for run in RUNS.page(ctx, within=uid, limit=_MAX_SCANNED))
    return ListFilter("who", "Run as", tuple((found.uid, found.name) for found in VisibleRefs(ctx).refs(members)))
