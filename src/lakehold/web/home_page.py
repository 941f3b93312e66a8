"""The home page: workspaces, recent resources, failed runs, requests, and the sections that ways of working add."""

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext
from lakehold.catalog import approvals, discovery, requests, usage, workspaces
from lakehold.catalog.resource_view import make_ref
from lakehold.catalog.usage import LastUse
from lakehold.runs.run_table import FAILED
from lakehold.web import pages
from lakehold.web.access import fact_labels
from lakehold.web.routing import router
from lakehold.web.runs import RUNS
from lakehold.workspaces import registry

routes = router()

_MAX_RECENT = 8
_MAX_WAITING, _MAX_REQUESTS = 5, 50
_MAX_DISCOVERIES = 6
_MAX_FAILED = 5


@routes.get("/")
def home(request: Request, ctx: ReadContext) -> Response:
    """Render the home page."""
    spaces = workspaces.page(ctx, limit=50)
    pending = [each for each in requests.list_own(ctx, limit=_MAX_REQUESTS) if each.request.state == "pending"]
    sections = (workspace.home_section(ctx) for workspace in registry.all_workspaces())
    recent: dict[str, LastUse] = {}
    for use in usage.list_for_member(ctx, ctx.caller.member):
        recent.setdefault(use.resource.uid, use)
    failed = RUNS.page(ctx, state=FAILED, limit=_MAX_FAILED)
    values: dict[str, object] = {
        "name": fact_labels.resource_name(ctx, ctx.caller.member).partition(",")[0],
        "sections": [section for section in sections if section is not None],
        "workspaces": spaces.items,
        "more_workspaces": spaces.after is not None,
        "recent": list(recent.values())[:_MAX_RECENT],
        "failed": [(make_ref(ctx.view, run.resource), run) for run in failed],
        "waiting": approvals.list_answerable(ctx, limit=_MAX_WAITING),
        "asked": pending[:_MAX_WAITING],
        "asked_for": frozenset(each.request.resource for each in pending),
        "discoveries": discovery.find(ctx, limit=_MAX_DISCOVERIES).items,
        "may_create": ctx.session.check(ctx.principal, "create_workspace", ctx.caller.tenant),
    }
    return pages.render(request, "home/home.html", values)
