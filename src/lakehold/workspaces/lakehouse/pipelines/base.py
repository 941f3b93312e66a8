"""The base of lakehouse pipelines: their edges, and the rights on everything that they read and write."""

from collections.abc import Sequence

from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import quote
from lakehold.kit.settings_schema import InvalidSettingError
from lakehold.runs.runnable import Runnable, Step
from lakehold.workspaces.graph import edge_targets
from lakehold.workspaces.lakehouse.steps import OutputTarget

LAYER_KIND, TABLE_KIND = "lakehouse.layer", "lakehouse.table"


class LakehousePipeline(Runnable):
    """A kind of pipeline. It has no level of its own: levels are needed on what it reads and writes."""

    trigger, schedule, stop, see = "trigger", "trigger", "stop", "see_runs"

    @property
    def label(self) -> str:
        """The noun of its kind."""
        return self.kind.partition(".")[2]

    def outputs(self, ctx: RequestContext, uid: str) -> Sequence[str]:
        """Return the tables that it writes, or their layers."""
        return edge_targets(ctx, uid, "writes") or edge_targets(ctx, uid, "into")

    def need_step(self, ctx: RequestContext, uid: str, step: Step) -> None:
        """Refuse a step if the caller may no longer read its inputs or write its outputs."""
        del uid
        for each in step.reads:
            ctx.need("read", each)
        for each in step.writes:
            need_writable_target(ctx, each)

    def output_target(self, ctx: RequestContext, uid: str, table: str) -> OutputTarget:
        """Return where its rows are written; refused if the caller may not write there."""
        found = self.outputs(ctx, uid)
        if len(found) != 1:
            raise ConflictError(
                f"The {self.label} {quote(uid)} writes {'no table' if not found else 'several tables'}.",
                "Let it write one table, or one layer in which the table is created.",
            )
        return resolve_output(ctx, uid, found[0], table)


def resolve_output(ctx: RequestContext, uid: str, target: str, table: str) -> OutputTarget:
    """Return a table that the caller may write, or a layer in which they may create one of this name."""
    need_writable_target(ctx, target)
    is_layer = ctx.view.kind(ctx.view.resource(target)) == LAYER_KIND
    if is_layer and not table:
        raise InvalidSettingError(f"{quote(uid)} has no table.", "Set table, the name that it gets.", field="table")
    return OutputTarget(pipeline=uid, target=target, table=table if is_layer else "")


def need_writable_target(ctx: RequestContext, target: str) -> None:
    """Refuse a table or volume that the caller may not write, and a layer in which they may not create a table."""
    ctx.need_visible(target, "write")
    ctx.need("create_table" if ctx.view.kind(ctx.view.resource(target)) == LAYER_KIND else "write", target)


def readable_inputs(ctx: RequestContext, uid: str, edge: str = "reads") -> tuple[str, ...]:
    """Return the tables and volumes that the pipeline reads; refused if the caller may not read one."""
    found = edge_targets(ctx, uid, edge)
    for each in found:
        ctx.need("read", each)
    return tuple(found)
