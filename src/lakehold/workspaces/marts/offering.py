"""What a report can ask of a data mart: its columns and those of joined marts, as people know them."""

from __future__ import annotations

from dataclasses import dataclass

from lakehold.catalog import resource_metadata
from lakehold.directory.request_context import RequestContext
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.workspaces.marts import joining
from lakehold.workspaces.marts.definitions import WORD
from lakehold.workspaces.told import SettingsReader


@dataclass(frozen=True, slots=True)
class Offered:
    """A column that can be asked for."""

    name: str
    type: str
    """As Iceberg calls it."""
    alias: str = ""
    description: str = ""

    @property
    def label(self) -> str:
        """What people call it."""
        return self.alias or self.name


def offered(ctx: RequestContext, lake: IcebergCatalog, mart: str) -> list[Offered]:
    """All of them; refused if the caller may not use a mart on the chain, or one has no rows yet."""
    known = joining.source(ctx, lake, mart).columns
    words = _words(ctx, mart)
    return [Offered(name, column.type, *words.get(name, ("", ""))) for name, column in known.items()]


def _words(ctx: RequestContext, mart: str, before: str = "") -> dict[str, tuple[str, str]]:
    """Aliases and descriptions, by name."""
    told = SettingsReader(resource_metadata.load(ctx, mart).settings, WORD)
    found = {
        f"{before}{each.text('name')}": (each.text("alias", ""), each.text("description", ""))
        for each in told.each("columns")
    }
    for each in told.each("joins"):
        found |= _words(ctx, each.text("mart"), f"{before}{each.text('name')}.")
    return found
