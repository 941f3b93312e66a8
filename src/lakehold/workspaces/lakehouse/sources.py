"""Sources before they are run: who may look at one."""

from __future__ import annotations

from lakehold.access import Draft
from lakehold.directory.work import Work
from lakehold.pipeline import reading

KIND = "lakehouse.source"


def may_look(work: Work, source: str, lakehouse: str, layer: str) -> None:
    """Refuse unless the caller may edit the source, or make one like this. Their own eyes only: it shows data."""
    reading.refuse_viewer(work)
    if source:
        work.need("edit", source)
        return
    work.see(lakehouse)
    work.need_draft(Draft(KIND, {"lakehouse": lakehouse, "into": layer}))
