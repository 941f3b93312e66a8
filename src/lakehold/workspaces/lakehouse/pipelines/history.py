"""The history of a table: each state that a row has had, from when until when."""

from __future__ import annotations

from collections.abc import Sequence

from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import quote
from lakehold.runs.runnable import RunOptions, Step
from lakehold.workspaces.lakehouse.pipelines.pipeline import Pipeline, readable
from lakehold.workspaces.lakehouse.steps import Keep
from lakehold.workspaces.spans import whole


class HistoryPipeline(Pipeline):
    """Its settings: `keys`, `at`, `track`, `ignore`, `closes_missing`, `last_by`, and `table` if there is none yet."""

    kind = "lakehouse.history"
    word = "history"

    def steps(self, ctx: RequestContext, uid: str, wanted: RunOptions) -> Sequence[Step]:
        """One: the table as it is now into its history. What is known of before stays known, reload or not."""
        whole(wanted, self.word)
        told = self.told(ctx, uid)
        reads = readable(ctx, uid)
        if len(reads) != 1:
            raise ConflictError(
                f"The history {quote(uid)} reads {'no table' if not reads else 'several tables'}.", "Let it read one."
            )
        into = self.into(ctx, uid, told)
        if into.end == reads[0]:
            raise ConflictError("A history is kept in a table of its own.", "Let it write another table.")
        step = Keep(
            name="history",
            reads=reads,
            writes=(into.end,),
            source=reads[0],
            into=into,
            keys=told.texts("keys"),
            at=told.text("at", ""),
            track=told.texts("track"),
            ignore=told.texts("ignore"),
            last_by=told.text("last_by", ""),
            closes_missing=told.flag("closes_missing", default=True),
        )
        return [step]
