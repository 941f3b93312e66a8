"""What all pipelines have in common: no level of their own; one is asked for on all that they read and write."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from lakehold.catalog import resource_metadata
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import quote
from lakehold.runs.runnable import Alike, RunOptions, Step
from lakehold.workspaces.ends import ends
from lakehold.workspaces.lakehouse.steps import How, Into
from lakehold.workspaces.told import SettingsReader

LAYER, TABLE = "lakehouse.layer", "lakehouse.table"
MODES = ("overwrite", "append", "merge", "mirror")
EVOLUTIONS = ("merge", "strict", "overwrite")


class Pipeline(Alike):
    """A kind of them."""

    kind: str
    word: str
    """What people call it."""
    trigger, schedule, stop, see = "trigger", "trigger", "stop", "see_runs"

    def outputs(self, ctx: RequestContext, uid: str) -> Sequence[str]:
        """The tables that it writes, or their layers."""
        return ends(ctx, uid, "writes") or ends(ctx, uid, "into")

    @abstractmethod
    def steps(self, ctx: RequestContext, uid: str, wanted: RunOptions) -> Sequence[Step]:
        """What is to be done."""

    def told(self, ctx: RequestContext, uid: str) -> SettingsReader:
        """Its settings."""
        return SettingsReader(resource_metadata.load(ctx, uid).settings, self.word)

    def into(self, ctx: RequestContext, uid: str, told: SettingsReader) -> Into:
        """Where its rows go; refused if the person may not write there."""
        found = self.outputs(ctx, uid)
        if len(found) != 1:
            raise ConflictError(
                f"The {self.word} {quote(uid)} writes {'no table' if not found else 'several tables'}.",
                "Let it write one table, or one layer in which the table is made.",
            )
        return output(ctx, uid, found[0], told)


def output(ctx: RequestContext, uid: str, end: str, told: SettingsReader) -> Into:
    """A table that the person may write, or a layer in which they may make one."""
    if ctx.view.kind(ctx.view.resource(end)) == LAYER:
        ctx.need("create_table", end)
        return Into(pipeline=uid, end=end, table=told.table())
    ctx.need("write", end)
    return Into(pipeline=uid, end=end)


def how(told: SettingsReader, *, default: str = "overwrite") -> How:
    """How rows go into the table."""
    return How(
        mode=told.one_of("mode", MODES, default),
        keys=told.texts("keys"),
        evolution=told.one_of("evolution", EVOLUTIONS, "merge"),
        partitioned_by=told.texts("partitioned_by"),
    )


def readable(ctx: RequestContext, uid: str, edge: str = "reads") -> tuple[str, ...]:
    """What it reads; refused if the person may not."""
    found = ends(ctx, uid, edge)
    for each in found:
        ctx.need("read", each)
    return tuple(found)
