"""A report: what it asks of its data mart goes to its destination."""

from __future__ import annotations

from collections.abc import Sequence

from lakehold.access.decide.words import named
from lakehold.catalog import details, kinds
from lakehold.catalog.kinds import Right
from lakehold.directory.work import Work
from lakehold.kit.errors import ConflictError
from lakehold.runs.runnable import Alike, Ended, Notice, Step, Wanted
from lakehold.workspaces.ends import ends
from lakehold.workspaces.marts import nouns
from lakehold.workspaces.marts.live import LIVE
from lakehold.workspaces.marts.notifications import telling
from lakehold.workspaces.marts.pipelines.mart import admins_right, need_published
from lakehold.workspaces.marts.reporting import WORD
from lakehold.workspaces.marts.steps import Send
from lakehold.workspaces.spans import whole


class ReportPipeline(Alike):
    """Its runs are seen by who sees its data mart, and stopped by who may run it or edits that."""

    kind = nouns.REPORT
    trigger, schedule, stop, see = "run", "edit", "run", "see"
    trigger_kind = "marts.report_trigger"

    def outputs(self, work: Work, uid: str) -> Sequence[str]:
        """No table; two runs of one report do not overtake each other."""
        del work
        return [uid]

    def steps(self, work: Work, uid: str, wanted: Wanted) -> Sequence[Step]:
        """One: asked and sent."""
        whole(wanted, WORD)
        mart, destination = mart_of(work, uid), destination_of(work, uid)
        work.need(self.trigger, uid)
        if details.read(work, destination).settings.get("to") == LIVE:
            raise ConflictError(f"The {named(work.view, uid)} is pulled, and not sent.", "Its destination is live.")
        need_published(work, mart)
        return [Send(name="send", reads=(mart,), report=uid, mart=mart, destination=destination)]

    def notices(self, work: Work, uid: str, ended: Ended) -> Sequence[Notice]:
        """Whom its project tells: of those, who may see the data mart, whoever owns the report."""
        return telling.notices(work, uid, mart_of(work, uid), ended)

    def shown_with(self, work: Work, uid: str) -> str:
        """Its data mart, also for who owns the report."""
        return mart_of(work, uid)

    def stopping(self, work: Work, uid: str) -> Sequence[Right]:
        """Run on it, or edit on its data mart."""
        return (Right(self.stop, uid), Right("edit", mart_of(work, uid)))

    def deleting(self, work: Work, uid: str) -> Right:
        """As a Project Admin."""
        return admins_right(work, uid)


def mart_of(work: Work, uid: str) -> str:
    """What it is about."""
    found = kinds.parent_of(work.view, uid)
    assert found is not None  # noqa: S101 - no report lies elsewhere
    return found


def destination_of(work: Work, uid: str) -> str:
    """Where it goes; refused if that is gone."""
    found = ends(work, uid, "destination")
    view = work.view
    there = [each for each in found if view.attributes["deleted"].get(view.resource(each)) != "true"]
    if not there:
        raise ConflictError(
            f"The destination of {named(work.view, uid)} is gone.", "Restore it, or choose another destination."
        )
    return there[0]
