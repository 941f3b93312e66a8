"""The table that rows go into: made as the person whom the run is for, if it is not there."""

from __future__ import annotations

from lakehold.access import Add, Edge, Remove
from lakehold.catalog import resources
from lakehold.directory.work import Work
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import folded, shown
from lakehold.pipeline import reading
from lakehold.pipeline.lake import Place
from lakehold.runs.runnable import Doing
from lakehold.workspaces.ends import ends
from lakehold.workspaces.lakehouse.pipelines.pipeline import LAYER, TABLE
from lakehold.workspaces.lakehouse.pipelines.upkeep import REJECTED
from lakehold.workspaces.lakehouse.steps import Into


def place(doing: Doing, into: Into) -> Place:
    """Where the table lies. What a run that was begun before has made is found again."""
    with doing.house.write(doing.caller) as work:
        return reading.place_of(work, _table(work, into))


def beside(doing: Doing, into: Into, *, make: bool) -> Place | None:
    """Where the table for rows that are none lies: beside the table, and so for nobody that may not read all there."""
    with doing.house.write(doing.caller) as work:
        table = _table(work, into)
        layer = ends(work, table, "layer")[0]
        name = f"{work.view.names.get(work.view.resource(table))}{REJECTED}"
        found = _named(work, layer).get(folded(name))
        if found is None and make:
            found = resources.create(work, TABLE, name, edges={"layer": layer})
        return None if found is None else reading.place_of(work, found)


def _table(work: Work, into: Into) -> str:
    written = ends(work, into.pipeline, "writes")
    made = [end for end in written if work.view.kind(work.view.resource(end)) == TABLE]
    if into.end in made or work.view.kind(work.view.resource(into.end)) != LAYER:
        return into.end
    name, named = folded(into.table), _named(work, into.end)
    if name in named and named[name] in made:
        return named[name]
    if name in named:
        raise ConflictError(
            f"There is a table {shown(into.table)} in the layer already.", "Write that table, or choose another name."
        )
    uid = resources.create(work, TABLE, into.table, edges={"layer": into.end})
    # The output is the table from now on, and no longer its layer.
    work.make(Add(Edge("writes", into.pipeline, uid)))
    if into.end in ends(work, into.pipeline, "writes"):
        work.make(Remove(Edge("writes", into.pipeline, into.end)))
    return uid


def _named(work: Work, layer: str) -> dict[str, str]:
    """The tables of a layer, by name."""
    return work.session.asking(
        lambda view: {
            folded(view.names.get(child) or ""): view.uid(child)
            for child in view.inside(view.resource(layer))
            if view.kind(child) == TABLE
        }
    )
