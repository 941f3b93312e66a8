"""Data marts joined to a data mart: the SQL source of reports, and the columns that a report can use.

The caller must be able to use every mart in the chain; an error names the one that is missing.
"""

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
from lakehold.workspaces.graph import edge_targets
from lakehold.workspaces.marts import mart_kinds
from lakehold.workspaces.marts.report_query import QuerySource, SourceColumn
from lakehold.workspaces.marts.settings import DATA_MART

_MAX_DEPTH = 5


def query_source(ctx: RequestContext, lake: IcebergCatalog, mart: str) -> QuerySource:
    """Return the SQL and the columns of a data mart for the caller.

    Columns of a joined mart have its name as a prefix: `customer.city`.
    """
    mart_kinds.need_kind(ctx, mart, mart_kinds.DATA_MART_KIND, "use")
    joined = _JoinBuilder(ctx, lake)
    joined.add(mart)
    return QuerySource(" ".join(joined.tables), joined.columns)


@dataclass(frozen=True, slots=True)
class _JoinCondition:
    """The columns that are equal: ours, by theirs."""

    before: str
    columns: Mapping[str, str]


@dataclass(slots=True)
class _JoinBuilder:
    work: RequestContext
    lake: IcebergCatalog
    tables: list[str] = field(default_factory=list)
    columns: dict[str, SourceColumn] = field(default_factory=dict)

    def add(self, mart: str, prefix: str = "", on: _JoinCondition | None = None) -> None:
        """Add a mart, and everything that is joined to it in turn."""
        self.work.need("use", mart)
        alias = quote_identifier(f"t{len(self.tables)}")
        self._add_columns(mart, prefix, alias)
        path = readable_tables.qualified_name(self.work, mart)
        self.tables.append(
            f"{path} AS {alias}" if on is None else f"LEFT JOIN {path} AS {alias} ON {self._condition(prefix, on)}"
        )
        settings = DATA_MART.parse(resource_metadata.load(self.work, mart).settings)
        allowed = set(edge_targets(self.work, mart, "joins"))
        for join in settings.joins:
            if join.mart not in allowed:
                raise InvalidInputError(f"The data mart is not joined to {quote(join.mart)}.", "Save its joins anew.")
            if prefix.count(".") >= _MAX_DEPTH:
                raise ConflictError(
                    f"More than {_MAX_DEPTH} data marts are joined one behind the other.", "Join fewer."
                )
            self.add(join.mart, f"{prefix}{join.name}.", _JoinCondition(prefix, join.on))

    def _add_columns(self, mart: str, prefix: str, alias: str) -> None:
        now = self.lake.current_metadata(readable_tables.identifier_of(self.work, mart))
        if now is None:
            name = self.work.view.names.get(self.work.view.resource(mart)) or mart
            raise ConflictError(f"The data mart {quote(name)} has no data yet.", "Refresh it.")
        for each in now.fields:
            self.columns[f"{prefix}{each.name}"] = SourceColumn(f"{alias}.{quote_identifier(each.name)}", each.type)

    def _condition(self, prefix: str, on: _JoinCondition) -> str:
        if not on.columns:
            raise InvalidInputError(
                f"The join {quote(prefix.rstrip('.'))} has no columns.", "Say which are the same: on."
            )
        pairs = [(f"{on.before}{ours}", f"{prefix}{theirs}") for ours, theirs in on.columns.items()]
        for name in (name for pair in pairs for name in pair if name not in self.columns):
            raise InvalidInputError(f"There is no column {quote(name)} to join by.", "Correct the join.")
        return " AND ".join(f"{self.columns[ours].sql} = {self.columns[theirs].sql}" for ours, theirs in pairs)


@dataclass(frozen=True, slots=True)
class ReportColumn:
    """A column that a report can use."""

    name: str
    type: str
    """As Iceberg calls it."""
    alias: str = ""
    description: str = ""

    @property
    def label(self) -> str:
        """The alias, else the name."""
        return self.alias or self.name


def available_columns(ctx: RequestContext, lake: IcebergCatalog, mart: str) -> list[ReportColumn]:
    """Return all columns; refused if the caller may not use a mart in the chain, or one has no rows yet."""
    known = query_source(ctx, lake, mart).columns
    labels = _column_labels(ctx, mart)
    return [ReportColumn(name, column.type, *labels.get(name, ("", ""))) for name, column in known.items()]


def _column_labels(ctx: RequestContext, mart: str, prefix: str = "") -> dict[str, tuple[str, str]]:
    """Return aliases and descriptions by name."""
    settings = DATA_MART.parse(resource_metadata.load(ctx, mart).settings)
    found = {f"{prefix}{column.name}": (column.alias, column.description) for column in settings.columns}
    for join in settings.joins:
        found |= _column_labels(ctx, join.mart, f"{prefix}{join.name}.")
    return found
