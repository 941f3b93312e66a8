"""What a stream writes, as people say it: `raw.orders`. A table that is there, or one that is made in that layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lakehold.access.query.listing import ListedResource
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.workspaces.lakehouse.pipelines.base import LAYER_KIND, TABLE_KIND
from lakehold.workspaces.settings_reader import valid_table_name

MOST = 500


@dataclass(frozen=True, slots=True)
class Target:
    """Where the rows of a stream go: a table, or a name for one in a layer."""

    end: str
    """The table, or the layer."""
    table: str = ""
    """What it is to be called; empty if it is there."""


@dataclass(frozen=True, slots=True)
class Targets:
    """What the caller may write, by name."""

    layers: Mapping[str, str]
    tables: Mapping[str, str]

    def read(self, text: str) -> Target:
        """What somebody wrote; refused if they may not write there."""
        if text in self.tables:
            return Target(self.tables[text])
        layer, dot, table = text.rpartition(".")
        if not dot:
            raise InvalidInputError("Write the layer too.", "Such as raw.orders.")
        if layer not in self.layers:
            raise InvalidInputError("There is no layer of this name in which you may make tables.", "Choose another.")
        return Target(self.layers[layer], valid_table_name(table))


def targets(ctx: RequestContext, workspace: str) -> Targets:
    """All that there are in a lakehouse."""
    found = ctx.session.list(ctx.asker, "write", TABLE_KIND, within=workspace, limit=MOST).items
    return Targets(layers(ctx, workspace), {name: uid for uid, name in named(ctx, found)})


def layers(ctx: RequestContext, workspace: str) -> dict[str, str]:
    """Those in which the caller may make tables, by name."""
    found = ctx.session.list(ctx.asker, "create_table", LAYER_KIND, within=workspace, limit=MOST).items
    return {item.name: item.uid for item in found}


def named(ctx: RequestContext, found: Sequence[ListedResource]) -> list[tuple[str, str]]:
    """Ids, and names with the layer before them."""
    eyes = VisibleRefs(ctx)
    pairs = [
        (item.uid, f"{above.name}.{item.name}" if (above := eyes.parent(item.uid)) else item.name) for item in found
    ]
    return sorted(pairs, key=lambda pair: pair[1].casefold())
