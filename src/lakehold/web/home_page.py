"""The home page: workspaces, recent resources, failed runs, requests, and what the ways of working add to it."""

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
from lakehold.web.routing import router
from lakehold.web.runs import labels
from lakehold.workspaces import registry
from lakehold.workspaces.descriptor import HomeSection

routes = router()

_MAX_RECENT = 8
_MAX_WAITING, _MAX_REQUESTS = 5, 50
_MAX_DISCOVERIES = 6
_MAX_FAILED = 5

_runs = Runs(workspace_kinds.runnables())


@routes.get("/")
def home(request: Request, ctx: ReadContext) -> Response:
    """Render the home page."""
    spaces = workspaces.page(ctx, limit=50)
    pending = [
        access_request
        for access_request in requests.list_own(ctx, limit=_MAX_REQUESTS)
        if access_request.request.state == "pending"
    ]
    values: dict[str, object] = {
        "name": _first_name(ctx),
        "sections": _sections(ctx),
        "tones": labels.TONES,
        "signs": labels.ICONS,
        "workspaces": spaces.items,
        "more_workspaces": spaces.after is not None,
        "recent": _recently_used(ctx),
        "failed": _failed_runs(ctx),
        "waiting": approvals.list_answerable(ctx, limit=_MAX_WAITING),
        "asked": pending[:_MAX_WAITING],
        "asked_for": frozenset(access_request.request.resource for access_request in pending),
        "discoveries": discovery.find(ctx, limit=_MAX_DISCOVERIES).items,
        "may_create": ctx.session.check(ctx.principal, "create_workspace", ctx.caller.tenant),
    }
    return pages.render(request, "home/home.html", values)


def _sections(ctx: RequestContext) -> list[HomeSection]:
    """Return the sections that the ways of working add for the caller."""
    found = (workspace.home_section(ctx) for workspace in registry.all_workspaces())
    return [section for section in found if section is not None]


def _first_name(ctx: RequestContext) -> str:
    name = ctx.view.names.get(ctx.view.member(ctx.caller.member)) or ""
    return name.partition(",")[0]


def _recently_used(ctx: RequestContext) -> list[tuple[ResourceRef, LastUse]]:
    """Return the resources that the caller used last, each once."""
    found: dict[str, tuple[ResourceRef, LastUse]] = {}
    for use in usage.list_for_member(ctx, ctx.caller.member):
        found.setdefault(use.resource.uid, (use.resource, use))
        if len(found) == _MAX_RECENT:
            break
    return list(found.values())


def _failed_runs(ctx: RequestContext) -> list[tuple[ResourceRef, Run]]:
    """Return the last failed runs of resources that the caller may see."""
    found = _runs.page(ctx, state=FAILED, limit=_MAX_FAILED)
    return [(make_ref(ctx.view, run.resource), run) for run in found]
