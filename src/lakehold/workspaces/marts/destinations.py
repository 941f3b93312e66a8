"""Destinations of a project: who may try one out, whether one is deleted, and what goes there."""

from __future__ import annotations

from lakehold.access import Draft
from lakehold.catalog import kinds
from lakehold.catalog.shapes import Eyes, Ref, attributes_of
from lakehold.directory.work import Work
from lakehold.pipeline import reading
from lakehold.workspaces.ends import starts
from lakehold.workspaces.marts import nouns


def may_try(work: Work, destination: str, project: str) -> None:
    """Refuse unless the caller may edit the destination, or make one in the project. It asks somebody else something,
    so it is nothing for who looks with another's eyes.
    """
    reading.refuse_viewer(work)
    if destination:
        work.need("edit", destination)
        return
    work.see(project)
    work.need_draft(Draft(nouns.DESTINATION, {"project": project}))


def is_deleted(work: Work, uid: str) -> bool:
    """Whether it can only be seen and restored."""
    return work.session.asking(lambda view: attributes_of(view, uid).get(kinds.DELETED)) == "true"


def reports(work: Work, uid: str) -> list[Ref]:
    """What goes there, of what the caller may see, by name."""
    return sorted(Eyes(work).refs(starts(work, uid, "destination")), key=lambda each: each.name.casefold())
