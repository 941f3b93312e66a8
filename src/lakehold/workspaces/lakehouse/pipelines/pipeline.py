"""What all pipelines have in common: no level of their own; one is asked for on all that they read and write."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from lakehold.catalog import details
from lakehold.directory.work import Work
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import shown
from lakehold.runs.runnable import Alike, Step, Wanted
from lakehold.workspaces.ends import ends
from lakehold.workspaces.lakehouse.steps import How, Into
from lakehold.workspaces.told import Told

LAYER, TABLE = "lakehouse.layer", "lakehouse.table"
MODES = ("overwrite", "append", "merge", "mirror")
EVOLUTIONS = ("merge", "strict", "overwrite")


class Pipeline(Alike):
    """A kind of them."""

    kind: str
    word: str
    """What people call it."""
    trigger, schedule, stop, see = "trigger", "trigger", "stop", "see_runs"

    def outputs(self, work: Work, uid: str) -> Sequence[str]:
        """The tables that it writes, or their layers."""
        return ends(work, uid, "writes") or ends(work, uid, "into")

    @abstractmethod
    def steps(self, work: Work, uid: str, wanted: Wanted) -> Sequence[Step]:
        """What is to be done."""

    def told(self, work: Work, uid: str) -> Told:
        """Its settings."""
        return Told(details.read(work, uid).settings, self.word)

    def into(self, work: Work, uid: str, told: Told) -> Into:
        """Where its rows go; refused if the person may not write there."""
        found = self.outputs(work, uid)
        if len(found) != 1:
            raise ConflictError(
                f"The {self.word} {shown(uid)} writes {'no table' if not found else 'several tables'}.",
                "Let it write one table, or one layer in which the table is made.",
            )
        return output(work, uid, found[0], told)


def output(work: Work, uid: str, end: str, told: Told) -> Into:
    """A table that the person may write, or a layer in which they may make one."""
    if work.view.kind(work.view.resource(end)) == LAYER:
        work.need("create_table", end)
        return Into(pipeline=uid, end=end, table=told.table())
    work.need("write", end)
    return Into(pipeline=uid, end=end)


def how(told: Told, *, default: str = "overwrite") -> How:
    """How rows go into the table."""
    return How(
        mode=told.one_of("mode", MODES, default),
        keys=told.texts("keys"),
        evolution=told.one_of("evolution", EVOLUTIONS, "merge"),
        partitioned_by=told.texts("partitioned_by"),
    )


def readable(work: Work, uid: str, edge: str = "reads") -> tuple[str, ...]:
    """What it reads; refused if the person may not."""
    found = ends(work, uid, edge)
    for each in found:
        work.need("read", each)
    return tuple(found)
