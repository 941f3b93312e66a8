"""The tables and layers of a lakehouse that forms offer: those that the caller may read or write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lakehold.access.query.listing import ListedResource
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import valid_table_name
from lakehold.workspaces.lakehouse.pipelines.base import LAYER_KIND, TABLE_KIND

MAX_TARGETS = 500
_MAX_OPTIONS = 300


@dataclass(frozen=True, slots=True)
class WriteTarget:
    """Where the rows of a stream go: a table, or the name of a new one in a layer."""

    end: str
    """The table, or the layer."""
    table: str = ""
    """What it is to be called; empty if it is there."""


@dataclass(frozen=True, slots=True)
class WriteTargets:
    """The tables and layers that the caller may write, by name."""

    layers: Mapping[str, str]
    tables: Mapping[str, str]

    def resolve(self, text: str) -> WriteTarget:
        """Return the target that a text names; raise InvalidInputError if the caller may not write there."""
        if text in self.tables:
            return WriteTarget(self.tables[text])
        layer, dot, table = text.rpartition(".")
        if not dot:
            raise InvalidInputError("Include the layer.", "Such as raw.orders.")
        if layer not in self.layers:
            raise InvalidInputError("No layer of this name where you can create tables.", "Choose another.")
        return WriteTarget(self.layers[layer], valid_table_name(table))


def write_targets(ctx: RequestContext, workspace: str) -> WriteTargets:
    """Return what the caller may write in a lakehouse."""
    found = ctx.session.list(ctx.principal, "write", TABLE_KIND, within=workspace, limit=MAX_TARGETS).items
    return WriteTargets(writable_layers(ctx, workspace), {name: uid for uid, name in qualified_names(ctx, found)})


def writable_layers(ctx: RequestContext, workspace: str) -> dict[str, str]:
    """Return the layers in which the caller may create tables, by name."""
    found = ctx.session.list(ctx.principal, "create_table", LAYER_KIND, within=workspace, limit=MAX_TARGETS).items
    return {item.name: item.uid for item in found}


def qualified_names(ctx: RequestContext, found: Sequence[ListedResource]) -> list[tuple[str, str]]:
    """Return ids with names that include the layer: `raw.orders`."""
    eyes = VisibleRefs(ctx)
    pairs = [
        (item.uid, f"{above.name}.{item.name}" if (above := eyes.parent(item.uid)) else item.name) for item in found
    ]
    return sorted(pairs, key=lambda pair: pair[1].casefold())


@dataclass(frozen=True, slots=True)
class PipelineFormOptions:
    """The tables and layers that the form offers to the caller."""

    reads: list[tuple[str, str, bool]]
    """Tables that they may read, and whether they may edit it too, which a pipeline asks for."""
    layers: list[tuple[str, str]]
    tables: list[tuple[str, str]]


def pipeline_form_options(ctx: RequestContext, workspace: str) -> PipelineFormOptions:
    """Return the tables and layers of a lakehouse to choose from."""
    writable = _table_options(ctx, "write", TABLE_KIND, workspace)
    return PipelineFormOptions(
        readable_tables(ctx, workspace), _table_options(ctx, "create_table", LAYER_KIND, workspace), writable
    )


def readable_tables(ctx: RequestContext, workspace: str) -> list[tuple[str, str, bool]]:
    """Return the tables that the caller may read, each with whether a pipeline of theirs may read it too."""
    found = _table_options(ctx, "read", TABLE_KIND, workspace)
    may = ctx.session.check_many([(ctx.principal, "write", uid) for uid, _ in found])
    return [(uid, name, each) for (uid, name), each in zip(found, may, strict=True)]


def _table_options(ctx: RequestContext, action: str, kind: str, workspace: str) -> list[tuple[str, str]]:
    found = ctx.session.list(ctx.principal, action, kind, within=workspace, limit=_MAX_OPTIONS).items
    if kind == LAYER_KIND:
        return [(item.uid, item.name) for item in found]
    return qualified_names(ctx, found)
