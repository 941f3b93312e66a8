"""A pipeline is activated and deactivated: all its triggers go on, or pause."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.api.frame.works import Writing
from lakehold.catalog.shapes import Resource
from lakehold.directory.work import Work
from lakehold.runs.triggers import ACTIVATE, DEACTIVATE
from lakehold.web import addresses, pages
from lakehold.web.access import acting
from lakehold.web.actions import Action
from lakehold.web.flashes import Flash
from lakehold.web.lakehouse.doing import RUNS, TRIGGERS
from lakehold.web.routes import router

routes = router("/resources")


@routes.post("/{uid:path}/pipeline/activate")
def activate(request: Request, work: Writing, uid: str) -> Response:
    """Let it run by itself, as the caller."""
    TRIGGERS.activate(work, uid, active=True)
    flash = Flash("It runs by itself from now on, as you.", undo=addresses.resource(uid, "pipeline/deactivate"))
    return pages.go(request, acting.home_of(work, uid), flash)


@routes.post("/{uid:path}/pipeline/deactivate")
def deactivate(request: Request, work: Writing, uid: str) -> Response:
    """Let it rest."""
    TRIGGERS.activate(work, uid, active=False)
    flash = Flash("It does not run by itself any more.", undo=addresses.resource(uid, "pipeline/activate"))
    return pages.go(request, acting.home_of(work, uid), flash)


def switches(work: Work, found: Resource) -> list[Action]:
    """What can be done about its triggers; nothing where there are none that the caller may know of."""
    if found.kind not in RUNS.runnables or RUNS.runnables[found.kind].see not in found.actions:
        return []
    triggers = TRIGGERS.of(work, found.uid)
    here = addresses.resource
    on = Action("Activate", here(found.uid, "pipeline/activate"), "post", "play")
    off = Action("Deactivate", here(found.uid, "pipeline/deactivate"), "post", "pause")
    wanted = {ACTIVATE: on} if any(not each.active for each in triggers) else {}
    wanted |= {DEACTIVATE: off} if any(each.active for each in triggers) else {}
    return acting.actions_of(work, found.uid, wanted) if wanted else []
