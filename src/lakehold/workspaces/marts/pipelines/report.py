"""A report: what it asks of its data mart goes to its destination."""

from __future__ import annotations

from collections.abc import Sequence

from lakehold.access.decisions.explanation import describe_resource
from lakehold.catalog import kinds, resource_metadata
from lakehold.catalog.kinds import RequiredRight
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError
from lakehold.runs.runnable import Alike, Ended, Notice, RunOptions, Step
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

    def outputs(self, ctx: RequestContext, uid: str) -> Sequence[str]:
        """No table; two runs of one report do not overtake each other."""
        del ctx
        return [uid]

    def steps(self, ctx: RequestContext, uid: str, wanted: RunOptions) -> Sequence[Step]:
        """One: asked and sent."""
        whole(wanted, WORD)
        mart, destination = mart_of(ctx, uid), destination_of(ctx, uid)
        ctx.need(self.trigger, uid)
        if resource_metadata.load(ctx, destination).settings.get("to") == LIVE:
            raise ConflictError(
                f"The {describe_resource(ctx.view, uid)} is pulled, and not sent.", "Its destination is live."
            )
        need_published(ctx, mart)
        return [Send(name="send", reads=(mart,), report=uid, mart=mart, destination=destination)]

    def notices(self, ctx: RequestContext, uid: str, ended: Ended) -> Sequence[Notice]:
        """Whom its project tells: of those, who may see the data mart, whoever owns the report."""
        return telling.notices(ctx, uid, mart_of(ctx, uid), ended)

    def shown_with(self, ctx: RequestContext, uid: str) -> str:
        """Its data mart, also for who owns the report."""
        return mart_of(ctx, uid)

    def stopping(self, ctx: RequestContext, uid: str) -> Sequence[RequiredRight]:
        """Run on it, or edit on its data mart."""
        return (RequiredRight(self.stop, uid), RequiredRight("edit", mart_of(ctx, uid)))

    def deleting(self, ctx: RequestContext, uid: str) -> RequiredRight:
        """As a Project Admin."""
        return admins_right(ctx, uid)


def mart_of(ctx: RequestContext, uid: str) -> str:
    """What it is about."""
    found = kinds.parent_of(ctx.view, uid)
    assert found is not None  # noqa: S101 - no report lies elsewhere
    return found


def destination_of(ctx: RequestContext, uid: str) -> str:
    """Where it goes; refused if that is gone."""
    found = ends(ctx, uid, "destination")
    view = ctx.view
    there = [each for each in found if view.attributes["deleted"].get(view.resource(each)) != "true"]
    if not there:
        raise ConflictError(
            f"The destination of {describe_resource(ctx.view, uid)} is gone.",
            "Restore it, or choose another destination.",
        )
    return there[0]
