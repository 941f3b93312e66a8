"""A destination: each table that it reads is sent out."""

from __future__ import annotations

from collections.abc import Sequence

from lakehold.directory.work import Work
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import shown
from lakehold.runs.runnable import Step, Wanted
from lakehold.workspaces.ends import ends
from lakehold.workspaces.lakehouse import volumes
from lakehold.workspaces.lakehouse.pipelines.pipeline import Pipeline, readable
from lakehold.workspaces.lakehouse.steps import Deliver
from lakehold.workspaces.spans import whole


class DestinationPipeline(Pipeline):
    """Its settings: `to`, which is files, database, webhook or mail, and what each of these takes."""

    kind = "lakehouse.destination"
    word = "destination"

    def steps(self, work: Work, uid: str, wanted: Wanted) -> Sequence[Step]:
        """One for each table."""
        whole(wanted, self.word)
        reads = readable(work, uid)
        if not reads:
            raise ConflictError(f"The destination {shown(uid)} reads no table.", "Let it read at least one.")
        names = work.view.names
        return [
            Deliver(
                name=names.get(work.view.resource(table)) or table,
                reads=(table,),
                writes=self._volume(work, uid),
                destination=uid,
                table=table,
                alone=len(reads) == 1,
            )
            for table in reads
        ]

    def _volume(self, work: Work, uid: str) -> tuple[str, ...]:
        """The volume that files go into; refused if the person may not write there."""
        if self.told(work, uid).text("to", "") != "files":
            return ()
        found = [end for end in ends(work, uid, "writes") if work.view.kind(work.view.resource(end)) == volumes.KIND]
        if len(found) != 1:
            raise ConflictError(
                f"The destination {shown(uid)} has no volume for its files.", "Let it write one volume."
            )
        work.need("write", found[0])
        return tuple(found)
