"""Home."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold import workspaces as workspace_kinds
from lakehold.api.http.dependencies import ReadContext
from lakehold.catalog import approvals, discovery, requests, usage, workspaces
from lakehold.catalog.resource_view import ResourceRef, make_ref
from lakehold.catalog.usage import LastUse
from lakehold.directory.request_context import RequestContext
from lakehold.runs.run_table import FAILED
from lakehold.runs.service import Run, Runs
from lakehold.web import pages
from lakehold.web.home.reporting import reporting
from lakehold.web.lakehouse import saying
from lakehold.web.routes import router

routes = router()

_MOST_RECENT = 8
_MOST_WAITING, _MOST_ASKED = 5, 50
_MOST_FOUND = 6
_MOST_FAILED = 5

_runs = Runs(workspace_kinds.runnables())


@routes.get("/")
def home(request: Request, ctx: ReadContext) -> Response:
    """What somebody comes back to."""
    spaces = workspaces.page(ctx, limit=50)
    asked = [told for told in requests.list_own(ctx, limit=_MOST_ASKED) if told.request.state == "pending"]
    values: dict[str, object] = {
        "name": _first_name(ctx),
        "reporting": reporting(ctx, _runs),
        "tones": saying.TONES,
        "signs": saying.SIGNS,
        "workspaces": spaces.items,
        "more_workspaces": spaces.after is not None,
        "recent": _recent(ctx),
        "failed": _failed(ctx),
        "waiting": approvals.list_answerable(ctx, limit=_MOST_WAITING),
        "asked": asked[:_MOST_WAITING],
        "asked_for": frozenset(told.request.resource for told in asked),
        "discoveries": discovery.find(ctx, limit=_MOST_FOUND).items,
        "may_create": ctx.session.check(ctx.asker, "create_workspace", ctx.caller.tenant),
    }
    return pages.page(request, "home/home.html", values)


def _first_name(ctx: RequestContext) -> str:
    name = ctx.view.names.get(ctx.view.member(ctx.caller.member)) or ""
    return name.partition(",")[0]


def _recent(ctx: RequestContext) -> list[tuple[ResourceRef, LastUse]]:
    """What they used last, each once."""
    found: dict[str, tuple[ResourceRef, LastUse]] = {}
    for use in usage.list_for_member(ctx, ctx.caller.member):
        found.setdefault(use.resource.uid, (use.resource, use))
        if len(found) == _MOST_RECENT:
            break
    return list(found.values())


def _failed(ctx: RequestContext) -> list[tuple[ResourceRef, Run]]:
    """The last runs that failed, of what they may see."""
    found = _runs.page(ctx, state=FAILED, limit=_MOST_FAILED)
    return [(make_ref(ctx.view, run.resource), run) for run in found]
