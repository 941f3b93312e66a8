"""The table that rows go into: made as the person whom the run is for, if it is not there."""

from __future__ import annotations

from lakehold.access import Add, Edge, Remove
from lakehold.catalog import resources
from lakehold.directory.work import Work
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import folded, shown
from lakehold.pipeline.lake import Place
from lakehold.runs.runnable import Doing
from lakehold.workspaces.lakehouse.pipelines.pipeline import LAYER, TABLE, ends
from lakehold.workspaces.lakehouse.steps import Into


def place(doing: Doing, into: Into) -> Place:
    """Where the table lies. What a run that was begun before has made is found again."""
    with doing.house.write(doing.caller) as work:
        uid = _table(work, into)
        return Place(work.session.tenant, work.view.resource(uid))


def _table(work: Work, into: Into) -> str:
    written = ends(work, into.pipeline, "writes")
    made = [end for end in written if work.view.kind(work.view.resource(end)) == TABLE]
    if into.end in made or work.view.kind(work.view.resource(into.end)) != LAYER:
        return into.end
    name = folded(into.table)
    named = work.session.asking(
        lambda view: {
            folded(view.names.get(child) or ""): view.uid(child)
            for child in view.inside(view.resource(into.end))
            if view.kind(child) == TABLE
        }
    )
    if name in named and named[name] in made:
        return named[name]
    if name in named:
        raise ConflictError(
            f"There is a table {shown(into.table)} in the layer already.", "Write that table, or choose another name."
        )
    uid = resources.create(work, TABLE, into.table, edges={"layer": into.end})
    # The output is the table from now on, and no longer its layer.
    work.make(Add(Edge("writes", into.pipeline, uid)))
    if into.end in written:
        work.make(Remove(Edge("writes", into.pipeline, into.end)))
    return uid
