"""A table that a result was saved as: it can be written anew from the same query, by those who may read all of it.

What keeps up any table is a run of it too, so that nothing else writes it meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence

from lakehold.catalog import kinds
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import quote
from lakehold.runs.runnable import RunOptions, Step
from lakehold.workspaces.lakehouse.pipelines import upkeep
from lakehold.workspaces.lakehouse.pipelines.pipeline import TABLE, Pipeline, readable
from lakehold.workspaces.lakehouse.steps import How, Into, Materialise
from lakehold.workspaces.spans import whole


class SavedTable(Pipeline):
    """Its settings: `sql`."""

    kind = TABLE
    word = "table"
    trigger, stop = "write", "write"

    def outputs(self, ctx: RequestContext, uid: str) -> Sequence[str]:
        """Itself."""
        del ctx
        return [uid]

    def right(self, wanted: RunOptions) -> str:
        """To write it, or what else is done with it."""
        return upkeep.right(wanted) or self.trigger

    def locks(self, ctx: RequestContext, uid: str, wanted: RunOptions) -> Sequence[str]:
        """Itself; where files are looked through that may be on their way, all that could be laying some down."""
        return upkeep.locks(ctx, uid) if upkeep.right(wanted) else self.outputs(ctx, uid)

    def steps(self, ctx: RequestContext, uid: str, wanted: RunOptions) -> Sequence[Step]:
        """One: the rows of the query in the place of those that are there. Or its upkeep."""
        if upkeep.right(wanted):
            return upkeep.steps(ctx, uid, wanted)
        whole(wanted, self.word)
        told, view = self.told(ctx, uid), ctx.view
        if not told.has("sql"):
            raise ConflictError(
                f"The table {quote(uid)} is not the result of a query.", "Run the source or the query that writes it."
            )
        ctx.need("write", uid)
        step = Materialise(
            name="query",
            reads=readable(ctx, uid, "saved_from"),
            writes=(uid,),
            workspace=view.names.get(view.resource(kinds.workspace_of(view, uid) or uid)) or "",
            sql=told.text("sql"),
            into=Into(pipeline=uid, end=uid),
            how=How(evolution="overwrite"),
        )
        return [step]
