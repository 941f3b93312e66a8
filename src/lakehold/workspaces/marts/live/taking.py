"""A report is pulled as whoever last saved it; somebody else takes that over without changing anything else."""

from __future__ import annotations

from lakehold.catalog import details
from lakehold.directory.work import Work
from lakehold.workspaces.marts import nouns


def take_over(work: Work, report: str) -> None:
    """From now on it is pulled as the caller, who may edit it and run it."""
    work.writing()
    nouns.need(work, report, nouns.REPORT, "edit")
    work.need("run", report)
    before = details.saver(work, report)
    details.changed(work, report)
    work.note("take over", report, before={"saved_by": before.member if before else ""})
