"""Home."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold import workspaces as workspace_kinds
from lakehold.api.frame.works import Reading
from lakehold.catalog import answers, discovery, requests, usage, workspaces
from lakehold.catalog.shapes import Ref, ref
from lakehold.catalog.usage import LastUse
from lakehold.directory.work import Work
from lakehold.runs.run_table import FAILED
from lakehold.runs.runs import Run, Runs
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
def home(request: Request, work: Reading) -> Response:
    """What somebody comes back to."""
    spaces = workspaces.page(work, limit=50)
    asked = [told for told in requests.mine(work, limit=_MOST_ASKED) if told.request.state == "pending"]
    values: dict[str, object] = {
        "name": _first_name(work),
        "reporting": reporting(work, _runs),
        "tones": saying.TONES,
        "signs": saying.SIGNS,
        "workspaces": spaces.items,
        "more_workspaces": spaces.after is not None,
        "recent": _recent(work),
        "failed": _failed(work),
        "waiting": answers.waiting_for(work, limit=_MOST_WAITING),
        "asked": asked[:_MOST_WAITING],
        "asked_for": frozenset(told.request.resource for told in asked),
        "discoveries": discovery.find(work, limit=_MOST_FOUND).items,
        "may_create": work.session.check(work.asker, "create_workspace", work.caller.tenant),
    }
    return pages.page(request, "home/home.html", values)


def _first_name(work: Work) -> str:
    name = work.view.names.get(work.view.member(work.caller.member)) or ""
    return name.partition(",")[0]


def _recent(work: Work) -> list[tuple[Ref, LastUse]]:
    """What they used last, each once."""
    found: dict[str, tuple[Ref, LastUse]] = {}
    for use in usage.of_member(work, work.caller.member):
        found.setdefault(use.resource.uid, (use.resource, use))
        if len(found) == _MOST_RECENT:
            break
    return list(found.values())


def _failed(work: Work) -> list[tuple[Ref, Run]]:
    """The last runs that failed, of what they may see."""
    found = _runs.page(work, state=FAILED, limit=_MOST_FAILED)
    return [(ref(work.view, run.resource), run) for run in found]
