"""The table that rows go into: made as the person whom the run is for, if it is not there."""

from __future__ import annotations

from lakehold.access import Add, Edge, Remove
from lakehold.catalog import resources
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import fold_name, quote
from lakehold.lake import readable_tables
from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.runs.runnable import StepContext
from lakehold.workspaces.ends import ends
from lakehold.workspaces.lakehouse.pipelines.pipeline import LAYER, TABLE
from lakehold.workspaces.lakehouse.pipelines.upkeep import REJECTED
from lakehold.workspaces.lakehouse.steps import Into


def place(doing: StepContext, into: Into) -> TableIdentifier:
    """Where the table lies. What a run that was begun before has made is found again."""
    with doing.platform.write(doing.caller) as ctx:
        return readable_tables.identifier_of(ctx, _table(ctx, into))


def beside(doing: StepContext, into: Into, *, make: bool) -> TableIdentifier | None:
    """Where the table for rows that are none lies: beside the table, and so for nobody that may not read all there."""
    with doing.platform.write(doing.caller) as ctx:
        table = _table(ctx, into)
        layer = ends(ctx, table, "layer")[0]
        name = f"{ctx.view.names.get(ctx.view.resource(table))}{REJECTED}"
        found = _named(ctx, layer).get(fold_name(name))
        if found is None and make:
            found = resources.create(ctx, TABLE, name, edges={"layer": layer})
        return None if found is None else readable_tables.identifier_of(ctx, found)


def _table(ctx: RequestContext, into: Into) -> str:
    written = ends(ctx, into.pipeline, "writes")
    made = [end for end in written if ctx.view.kind(ctx.view.resource(end)) == TABLE]
    if into.end in made or ctx.view.kind(ctx.view.resource(into.end)) != LAYER:
        return into.end
    name, named = fold_name(into.table), _named(ctx, into.end)
    if name in named and named[name] in made:
        return named[name]
    if name in named:
        raise ConflictError(
            f"There is a table {quote(into.table)} in the layer already.", "Write that table, or choose another name."
        )
    uid = resources.create(ctx, TABLE, into.table, edges={"layer": into.end})
    # The output is the table from now on, and no longer its layer.
    ctx.make(Add(Edge("writes", into.pipeline, uid)))
    if into.end in ends(ctx, into.pipeline, "writes"):
        ctx.make(Remove(Edge("writes", into.pipeline, into.end)))
    return uid


def _named(ctx: RequestContext, layer: str) -> dict[str, str]:
    """The tables of a layer, by name."""
    return ctx.session.read_view(
        lambda view: {
            fold_name(view.names.get(child) or ""): view.uid(child)
            for child in view.children(view.resource(layer))
            if view.kind(child) == TABLE
        }
    )
