"""Where the edges of a resource lead, and where those come from that lead to it."""

from __future__ import annotations

from lakehold.directory.work import Work


def ends(work: Work, uid: str, edge: str) -> list[str]:
    """Where the edges of this name lead."""
    return work.session.asking(lambda view: [view.uid(end) for end in view.out[edge].get(view.resource(uid)) or ()])


def starts(work: Work, uid: str, edge: str) -> list[str]:
    """Where the edges of this name that lead to it come from."""
    return work.session.asking(
        lambda view: [view.uid(start) for start in view.back[edge].get(view.resource(uid)) or ()]
    )
