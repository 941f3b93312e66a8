"""A destination: each table that it reads is sent out."""

from __future__ import annotations

from collections.abc import Sequence

from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import quote
from lakehold.runs.runnable import RunOptions, Step
from lakehold.workspaces.ends import ends
from lakehold.workspaces.lakehouse import volumes
from lakehold.workspaces.lakehouse.pipelines.pipeline import Pipeline, readable
from lakehold.workspaces.lakehouse.steps import Deliver
from lakehold.workspaces.spans import whole


class DestinationPipeline(Pipeline):
    """Its settings: `to`, which is files, database, webhook or mail, and what each of these takes."""

    kind = "lakehouse.destination"
    word = "destination"

    def steps(self, ctx: RequestContext, uid: str, wanted: RunOptions) -> Sequence[Step]:
        """One for each table."""
        whole(wanted, self.word)
        reads = readable(ctx, uid)
        if not reads:
            raise ConflictError(f"The destination {quote(uid)} reads no table.", "Let it read at least one.")
        names = ctx.view.names
        return [
            Deliver(
                name=names.get(ctx.view.resource(table)) or table,
                reads=(table,),
                writes=self._volume(ctx, uid),
                destination=uid,
                table=table,
                alone=len(reads) == 1,
            )
            for table in reads
        ]

    def _volume(self, ctx: RequestContext, uid: str) -> tuple[str, ...]:
        """The volume that files go into; refused if the person may not write there."""
        if self.told(ctx, uid).text("to", "") != "files":
            return ()
        found = [end for end in ends(ctx, uid, "writes") if ctx.view.kind(ctx.view.resource(end)) == volumes.KIND]
        if len(found) != 1:
            raise ConflictError(
                f"The destination {quote(uid)} has no volume for its files.", "Let it write one volume."
            )
        ctx.need("write", found[0])
        return tuple(found)
