"""A report: what it asks of its data mart goes to its destination."""

from __future__ import annotations

from collections.abc import Sequence

from lakehold.catalog import details, kinds
from lakehold.directory.work import Work
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import shown
from lakehold.runs.runnable import Alike, Step, Wanted
from lakehold.workspaces.ends import ends
from lakehold.workspaces.marts.definitions import Definition
from lakehold.workspaces.marts.live import LIVE
from lakehold.workspaces.marts.pipelines.mart import told_of
from lakehold.workspaces.marts.reporting import WORD
from lakehold.workspaces.marts.steps import Send
from lakehold.workspaces.spans import whole


class ReportPipeline(Alike):
    """Whoever may run it stops it too; whoever sees it sees its runs."""

    kind = "marts.report"
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
            raise ConflictError(f"The report {shown(uid)} is pulled, and not sent.", "Its destination is live.")
        Definition.of(told_of(work, mart)).refuse_draft(mart)
        return [Send(name="send", reads=(mart,), report=uid, mart=mart, destination=destination)]


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
            f"The destination of the report {shown(uid)} is gone.", "Restore it, or choose another destination."
        )
    return there[0]
