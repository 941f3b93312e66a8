"""A pipeline is activated and deactivated: its triggers go on or pause; an integration lets its tokens in, or not."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.api.http.dependencies import WriteContext
from lakehold.catalog import kinds
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import RequestContext
from lakehold.runs.scheduler.service import ACTIVATE, DEACTIVATE
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.cookies import Flash
from lakehold.web.lakehouse.doing import RUNS, TRIGGERS
from lakehold.web.routing import router
from lakehold.workspaces.lakehouse import integrations

routes = router("/resources")


@routes.post("/{uid:path}/pipeline/activate")
def activate(request: Request, ctx: WriteContext, uid: str) -> Response:
    """Let it run by itself, as the caller."""
    said = _switched(ctx, uid, active=True)
    flash = Flash(said, undo=urls.resource(uid, "pipeline/deactivate"))
    return pages.redirect(request, resource_header.overview_url(ctx, uid), flash)


@routes.post("/{uid:path}/pipeline/deactivate")
def deactivate(request: Request, ctx: WriteContext, uid: str) -> Response:
    """Let it rest."""
    said = _switched(ctx, uid, active=False)
    flash = Flash(said, undo=urls.resource(uid, "pipeline/activate"))
    return pages.redirect(request, resource_header.overview_url(ctx, uid), flash)


def switches(ctx: RequestContext, found: ResourceView) -> list[PageAction]:
    """What can be done about its triggers; nothing where there are none that the caller may know of."""
    if found.kind == integrations.INTEGRATION_KIND:
        return _of_integration(ctx, found)
    if found.kind not in RUNS.runnables or RUNS.runnables[found.kind].see not in found.actions:
        return []
    triggers = TRIGGERS.for_resource(ctx, found.uid)
    here = urls.resource
    on = PageAction("Activate", here(found.uid, "pipeline/activate"), "post", "play")
    off = PageAction("Deactivate", here(found.uid, "pipeline/deactivate"), "post", "pause")
    wanted = {ACTIVATE: on} if any(not each.active for each in triggers) else {}
    wanted |= {DEACTIVATE: off} if any(each.active for each in triggers) else {}
    return resource_header.actions_of(ctx, found.uid, wanted) if wanted else []


def _of_integration(ctx: RequestContext, found: ResourceView) -> list[PageAction]:
    is_on = integrations.is_active(ctx, found.uid)
    word, icon = (DEACTIVATE, "pause") if is_on else (ACTIVATE, "play")
    turn = PageAction(word.capitalize(), urls.resource(found.uid, f"pipeline/{word}"), "post", icon)
    return resource_header.actions_of(ctx, found.uid, {word: turn})


def _switched(ctx: RequestContext, uid: str, *, active: bool) -> str:
    ctx.need_visible(uid)
    if kinds.schema_of(ctx.view, uid).id == integrations.INTEGRATION_KIND:
        integrations.set_active(ctx, uid, active=active)
        return "Its tokens are let in again." if active else "Its tokens let nobody in any more."
    TRIGGERS.set_all_active(ctx, uid, active=active)
    return "It runs by itself from now on, as you." if active else "It does not run by itself any more."
