"""A query that is kept as a table: its rows are written there each time that it runs."""

from __future__ import annotations

from collections.abc import Sequence

from lakehold.catalog import kinds
from lakehold.directory.work import Work
from lakehold.runs.runnable import Step, Wanted
from lakehold.workspaces.lakehouse.pipelines.pipeline import Pipeline, how, readable
from lakehold.workspaces.lakehouse.steps import How, Materialise


class QueryPipeline(Pipeline):
    """Its settings: `sql`, `mode`, `keys`, `evolution`, `partitioned_by`, and `table` if there is none yet."""

    kind = "lakehouse.query"
    word = "query"

    def steps(self, work: Work, uid: str, wanted: Wanted) -> Sequence[Step]:
        """One: the rows into the table. A reload replaces them all."""
        told, view = self.told(work, uid), work.view
        reads = readable(work, uid)
        into = self.into(work, uid, told)
        chosen = How(evolution=how(told).evolution) if wanted.reload else how(told)
        workspace = view.names.get(view.resource(kinds.workspace_of(view, uid) or uid)) or ""
        step = Materialise(
            name="query",
            reads=reads,
            writes=(into.end,),
            workspace=workspace,
            sql=told.text("sql"),
            into=into,
            how=chosen,
        )
        return [step]
