"""A data mart with those that are joined to it: every mart on the chain must be usable, and is named if it is not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lakehold.catalog import resource_metadata
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import quote
from lakehold.lake import readable_tables
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.lake.row_formats import quote_identifier
from lakehold.workspaces.ends import ends
from lakehold.workspaces.marts import nouns
from lakehold.workspaces.marts.definitions import WORD
from lakehold.workspaces.marts.questions import Known, Source
from lakehold.workspaces.told import SettingsReader

_DEEPEST = 5


def source(ctx: RequestContext, lake: IcebergCatalog, mart: str) -> Source:
    """What can be asked of a mart by the caller, as SQL and by column. A joined mart's columns have its name before
    theirs: `customer.city`.
    """
    nouns.need_kind(ctx, mart, nouns.DATA_MART, "use")
    joined = _Joined(ctx, lake)
    joined.add(mart)
    return Source(" ".join(joined.tables), joined.columns)


@dataclass(frozen=True, slots=True)
class _On:
    """Which columns are the same: ours, by theirs."""

    before: str
    columns: Mapping[str, str]


@dataclass(slots=True)
class _Joined:
    work: RequestContext
    lake: IcebergCatalog
    tables: list[str] = field(default_factory=list)
    columns: dict[str, Known] = field(default_factory=dict)

    def add(self, mart: str, before: str = "", on: _On | None = None) -> None:
        """A mart, and all that is joined to it in turn."""
        self.work.need("use", mart)
        called = quote_identifier(f"t{len(self.tables)}")
        self._know(mart, before, called)
        path = readable_tables.qualified_name(self.work, mart)
        self.tables.append(
            f"{path} AS {called}" if on is None else f"LEFT JOIN {path} AS {called} ON {self._same(before, on)}"
        )
        told = SettingsReader(resource_metadata.load(self.work, mart).settings, WORD)
        allowed = set(ends(self.work, mart, "joins"))
        for each in told.each("joins"):
            other, name = each.text("mart"), each.text("name")
            if other not in allowed:
                raise InvalidInputError(f"The data mart is not joined to {quote(other)}.", "Save its joins anew.")
            if before.count(".") >= _DEEPEST:
                raise ConflictError(f"More than {_DEEPEST} data marts are joined one behind the other.", "Join fewer.")
            self.add(other, f"{before}{name}.", _On(before, each.pairs("on")))

    def _know(self, mart: str, before: str, called: str) -> None:
        now = self.lake.current_metadata(readable_tables.identifier_of(self.work, mart))
        if now is None:
            name = self.work.view.names.get(self.work.view.resource(mart)) or mart
            raise ConflictError(f"The data mart {quote(name)} has no data yet.", "Refresh it.")
        for each in now.fields:
            self.columns[f"{before}{each.name}"] = Known(f"{called}.{quote_identifier(each.name)}", each.type)

    def _same(self, before: str, on: _On) -> str:
        if not on.columns:
            raise InvalidInputError(
                f"The join {quote(before.rstrip('.'))} has no columns.", "Say which are the same: on."
            )
        pairs = [(f"{on.before}{ours}", f"{before}{theirs}") for ours, theirs in on.columns.items()]
        for name in (name for pair in pairs for name in pair if name not in self.columns):
            raise InvalidInputError(f"There is no column {quote(name)} to join by.", "Correct the join.")
        return " AND ".join(f"{self.columns[ours].sql} = {self.columns[theirs].sql}" for ours, theirs in pairs)
