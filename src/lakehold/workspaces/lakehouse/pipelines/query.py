"""A query that is kept as a table: its rows are written there each time that it runs."""

from __future__ import annotations

from collections.abc import Sequence

from lakehold.catalog import kinds
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError
from lakehold.runs.runnable import RunOptions, Step
from lakehold.workspaces.lakehouse.pipelines.pipeline import Pipeline, how, readable
from lakehold.workspaces.lakehouse.steps import How, Materialise
from lakehold.workspaces.told import SettingsReader


class QueryPipeline(Pipeline):
    """Its settings: `sql`, `mode`, `keys`, `evolution`, `partitioned_by`, `cursor`, and `table` if there is none."""

    kind = "lakehouse.query"
    word = "query"

    def steps(self, ctx: RequestContext, uid: str, wanted: RunOptions) -> Sequence[Step]:
        """One: the rows into the table. A reload replaces them all."""
        told, view = self.told(ctx, uid), ctx.view
        reads = readable(ctx, uid)
        into = self.into(ctx, uid, told)
        chosen = How(evolution=how(told).evolution) if wanted.reload else how(told)
        cursor = _cursor(told) if wanted.span else ""
        workspace = view.names.get(view.resource(kinds.workspace_of(view, uid) or uid)) or ""
        step = Materialise(
            name="query",
            reads=reads,
            writes=(into.end,),
            workspace=workspace,
            sql=told.text("sql"),
            into=into,
            how=chosen,
            cursor=cursor,
            span=wanted.span,
        )
        return [step]


def _cursor(told: SettingsReader) -> str:
    """The field that a span is about; refused where a part of the rows has no meaning."""
    if not told.has("cursor"):
        raise ConflictError(
            "The query names no cursor, so it has no span.", "Set cursor to a field of its rows, or reload it."
        )
    if how(told).mode == "mirror":
        raise ConflictError("A query that mirrors gives all of its rows each time.", "Run it as a whole.")
    return told.text("cursor")
