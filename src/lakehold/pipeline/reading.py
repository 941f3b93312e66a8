"""Who may read rows at all, and where the rows of a table lie."""

from __future__ import annotations

from lakehold.directory.caller import Caller
from lakehold.directory.work import Work
from lakehold.kit.errors import ForbiddenError
from lakehold.pipeline.lake import Place


def refuse_viewer(work: Work) -> None:
    """Who looks with another's eyes sees what that person may do, and none of their data."""
    refuse_behind(work.caller)


def refuse_behind(caller: Caller) -> None:
    """The same, where there is no work yet."""
    if caller.behind:
        raise ForbiddenError("Viewing as somebody else shows no data.", "Stop viewing as them to read rows.")


def place_of(work: Work, uid: str) -> Place:
    """Where a table lies. Whether the caller may read it has been asked before."""
    return Place(work.session.tenant, work.view.resource(uid))
