"""The pipeline of a report: its rows are queried and sent to its destination."""

from __future__ import annotations

from collections.abc import Sequence

from lakehold.access.decisions.explanation import describe_resource
from lakehold.catalog import kinds, resource_metadata
from lakehold.catalog.kinds import RequiredRight
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError
from lakehold.runs.runnable import EndedRun, Runnable, RunNotice, RunOptions, Step, refuse_backfill
from lakehold.workspaces.graph import edge_targets
from lakehold.workspaces.marts import mart_kinds
from lakehold.workspaces.marts.live import LIVE_TYPE
from lakehold.workspaces.marts.notifications import run_notices
from lakehold.workspaces.marts.pipelines.data_mart import need_published, project_admin_right
from lakehold.workspaces.marts.settings import REPORT
from lakehold.workspaces.marts.steps import SendReport


class ReportPipeline(Runnable):
    """Sends a report. Its runs are seen by those who see its data mart, and stopped by those who may run it or
    edit the mart.
    """

    kind = mart_kinds.REPORT_KIND
    trigger, schedule, stop, see = "run", "edit", "run", "see"
    trigger_kind = "marts.report_trigger"
    reloads = False

    def outputs(self, ctx: RequestContext, uid: str) -> Sequence[str]:
        """Return the report itself, so that two of its runs do not overlap."""
        del ctx
        return [uid]

    def steps(self, ctx: RequestContext, uid: str, options: RunOptions) -> Sequence[Step]:
        """Return one step that queries and sends."""
        refuse_backfill(options, REPORT.label)
        mart, destination = mart_of(ctx, uid), destination_of(ctx, uid)
        ctx.need(self.trigger, uid)
        if resource_metadata.load(ctx, destination).settings.get("to") == LIVE_TYPE:
            raise ConflictError(
                f"The {describe_resource(ctx.view, uid)} is pulled, and not sent.", "Its destination is live."
            )
        need_published(ctx, mart)
        return [SendReport(name="send", reads=(mart,), report=uid, mart=mart, destination=destination)]

    def need_step(self, ctx: RequestContext, uid: str, step: Step) -> None:
        """Refuse a data mart that has become a draft meanwhile."""
        need_published(ctx, mart_of(ctx, uid))
        del step

    def notices(self, ctx: RequestContext, uid: str, ended: EndedRun) -> Sequence[RunNotice]:
        """Return the notices that the project is subscribed to, for those who may see the data mart."""
        return run_notices.run_notices(ctx, uid, mart_of(ctx, uid), ended)

    def visible_through(self, ctx: RequestContext, uid: str) -> str:
        """Return its data mart."""
        return mart_of(ctx, uid)

    def stop_rights(self, ctx: RequestContext, uid: str) -> Sequence[RequiredRight]:
        """Return `run` on the report, or `edit` on its data mart."""
        return (RequiredRight(self.stop, uid), RequiredRight("edit", mart_of(ctx, uid)))

    def delete_right(self, ctx: RequestContext, uid: str) -> RequiredRight:
        """Return the right of a Project Admin."""
        return project_admin_right(ctx, uid)


def mart_of(ctx: RequestContext, uid: str) -> str:
    """Return the data mart of a report."""
    found = kinds.parent_of(ctx.view, uid)
    assert found is not None  # noqa: S101 - no report lies elsewhere
    return found


def destination_of(ctx: RequestContext, uid: str) -> str:
    """Return the destination of a report; refused if it is deleted."""
    found = edge_targets(ctx, uid, "destination")
    view = ctx.view
    there = [each for each in found if view.attributes["deleted"].get(view.resource(each)) != "true"]
    if not there:
        raise ConflictError(
            f"The destination of {describe_resource(ctx.view, uid)} is gone.",
            "Restore it, or choose another destination.",
        )
    return there[0]
