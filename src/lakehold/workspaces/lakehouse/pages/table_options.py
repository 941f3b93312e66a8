"""The tables, layers and volumes of a lakehouse that forms offer: those that the caller may read or write."""

from collections.abc import Mapping
from dataclasses import dataclass

from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import valid_table_name
from lakehold.workspaces.lakehouse.pipelines.base import LAYER_KIND, TABLE_KIND

MAX_TARGETS = 500
_MAX_OPTIONS = 300


@dataclass(frozen=True, slots=True)
class WriteTargets:
    """The tables and layers that the caller may write, by name."""

    layers: Mapping[str, str]
    tables: Mapping[str, str]

    def resolve(self, text: str) -> tuple[str, str]:
        """Return the table that a text names and an empty string, or a layer and the name of a new table in it.

        Raises InvalidInputError if the caller may not write there.
        """
        if text in self.tables:
            return self.tables[text], ""
        layer, dot, table = text.rpartition(".")
        if not dot:
            raise InvalidInputError("Include the layer.", "Such as raw.orders.")
        if layer not in self.layers:
            raise InvalidInputError("No layer of this name where you can create tables.", "Choose another.")
        return self.layers[layer], valid_table_name(table)


def write_targets(ctx: RequestContext, workspace: str) -> WriteTargets:
    """Return the tables and layers of a lakehouse that the caller may write."""
    layers = options_for(ctx, "create_table", LAYER_KIND, workspace, MAX_TARGETS)
    tables = options_for(ctx, "write", TABLE_KIND, workspace, MAX_TARGETS)
    return WriteTargets({name: uid for uid, name in layers}, {name: uid for uid, name in tables})


def options_for(
    ctx: RequestContext, action: str, kind: str, workspace: str, limit: int = _MAX_OPTIONS
) -> list[tuple[str, str]]:
    """Return ids and names of what the caller may perform the action on. A table or volume names its layer."""
    found = ctx.session.list(ctx.principal, action, kind, within=workspace, limit=limit).items
    if kind == LAYER_KIND:
        return [(item.uid, item.name) for item in found]
    eyes = VisibleRefs(ctx)
    pairs = [
        (item.uid, f"{above.name}.{item.name}" if (above := eyes.parent(item.uid)) else item.name) for item in found
    ]
    return sorted(pairs, key=lambda pair: pair[1].casefold())


def readable_tables(ctx: RequestContext, workspace: str) -> list[tuple[str, str, bool]]:
    """Return the tables that the caller may read, each with whether a pipeline of theirs may read it too."""
    found = options_for(ctx, "read", TABLE_KIND, workspace)
    may = ctx.session.check_many([(ctx.principal, "write", uid) for uid, _ in found])
    return [(uid, name, each) for (uid, name), each in zip(found, may, strict=True)]
