"""Reports: their query as SQL for the caller at this moment, the columns that they can use, and previews of messages.

A data mart can be joined to others. The caller must be able to use every mart in the chain; an error names the one that
is missing.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import SECOND, Moment
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import quote
from lakehold.lake import readable_tables, table_views
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.lake.row_formats import quote_identifier
from lakehold.runs import worker_client
from lakehold.runs.worker_client import QueryRows, ReadPurpose
from lakehold.workspaces.graph import need_kind
from lakehold.workspaces.marts.messages import DEFAULT_TEMPLATE, MessageData, MessageTemplate, RenderedMessage
from lakehold.workspaces.marts.pipelines import joined_marts
from lakehold.workspaces.marts.report_query import (
    QuerySource,
    ReportQuery,
    SourceColumn,
    result_labels,
    selected_columns,
)
from lakehold.workspaces.marts.report_settings import REPORT, ReportSettings
from lakehold.workspaces.marts.settings import DATA_MART, DATA_MART_KIND, MartColumn, MartJoin

_MAX_DEPTH = 5


MartsSettings = Mapping[str, Mapping[str, object]]
"""The settings of a data mart and of those that are joined to it, by id."""


def query_source(
    ctx: RequestContext, lake: IcebergCatalog, mart: str, marts: MartsSettings | None = None
) -> QuerySource:
    """Return the SQL and the columns of a data mart for the caller; with `marts` as it was defined then.

    Columns of a joined mart have its name as a prefix: `customer.city`.
    """
    need_kind(ctx, mart, "use", (DATA_MART_KIND,))
    joined = _JoinBuilder(ctx, lake, marts or joined_marts(ctx, mart))
    joined.add(mart)
    return QuerySource(" ".join(joined.tables), joined.columns)


@dataclass(slots=True)
class _JoinBuilder:
    ctx: RequestContext
    lake: IcebergCatalog
    marts: MartsSettings
    tables: list[str] = field(default_factory=list)
    columns: dict[str, SourceColumn] = field(default_factory=dict)

    def add(self, mart: str, prefix: str = "", join: MartJoin | None = None) -> None:
        """Add a mart, and everything that is joined to it in turn."""
        if join is not None and not self.ctx.session.check(self.ctx.principal, "use", mart):
            raise DeniedError(
                "You may not use a data mart that is joined to this one.",
                "Ask the owner of the data mart which one it is, or leave out its joins.",
                action="use",
                resource=mart,
            )
        alias, settings = quote_identifier(f"t{len(self.tables)}"), DATA_MART.parse(self.marts[mart])
        self._add_columns(mart, prefix, alias, {each.name: each for each in settings.columns})
        path = readable_tables.qualified_name(self.ctx, mart)
        self.tables.append(
            f"{path} AS {alias}" if join is None else f"LEFT JOIN {path} AS {alias} ON {self._condition(prefix, join)}"
        )
        for each in settings.joins:
            if prefix.count(".") >= _MAX_DEPTH:
                raise ConflictError(f"More than {_MAX_DEPTH} data marts are joined in a chain.", "Join fewer.")
            self.add(each.mart, f"{prefix}{each.name}.", each)

    def _add_columns(self, mart: str, prefix: str, alias: str, about: Mapping[str, MartColumn]) -> None:
        now = table_views.view_of(self.ctx, mart).current_metadata(self.lake)
        if now is None:
            name = self.ctx.view.names.get(self.ctx.view.resource(mart)) or mart
            raise ConflictError(f"The data mart {quote(name)} has no data yet.", "Refresh it.")
        for each in now.fields:
            said = about.get(each.name, MartColumn(each.name))
            self.columns[f"{prefix}{each.name}"] = SourceColumn(
                f"{alias}.{quote_identifier(each.name)}", each.type, said.alias.strip(), said.description
            )

    def _condition(self, prefix: str, join: MartJoin) -> str:
        if not join.on:
            raise InvalidInputError(
                f"The join {quote(prefix.rstrip('.'))} has no columns.", "Set on to the columns that are equal."
            )
        before = prefix.removesuffix(f"{join.name}.")
        pairs = [(f"{before}{ours}", f"{prefix}{theirs}") for ours, theirs in join.on.items()]
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
    return [ReportColumn(name, each.type, each.alias, each.description) for name, each in known.items()]


@dataclass(frozen=True, slots=True)
class ReportStatement:
    """The SELECT of a report."""

    sql: str
    columns: tuple[str, ...]
    """The names of its columns, in their order; the result may have labels instead."""


def report_statement(
    ctx: RequestContext,
    lake: IcebergCatalog,
    report: ReportSettings,
    mart: str,
    *,
    parameters: Mapping[str, str] | None = None,
    marts: MartsSettings | None = None,
    labelled: bool = True,
    at: Moment | None = None,
) -> ReportStatement:
    """Return the SELECT of a report, now or as of a moment. Parameters that are given override those of the report.

    Its columns are labelled by their aliases for people, and have their names for programs.
    """
    source = query_source(ctx, lake, mart, marts)
    query = ReportQuery(
        report, _local_time(report, ctx.at if at is None else at), {**report.parameters, **(parameters or {})}
    )
    labels = result_labels(report, source)
    return ReportStatement(query.to_sql(source, labels=labels if labelled else {}), tuple(labels))


def report_day(ctx: RequestContext, report: ReportSettings) -> str:
    """Return the current day in the time zone of the report."""
    return _local_time(report, ctx.at).date().isoformat()


def _local_time(report: ReportSettings, at: Moment) -> datetime:
    return datetime.fromtimestamp(at / SECOND, UTC).astimezone(ZoneInfo(report.zone))


_PREVIEW_ROWS = 100


@dataclass(frozen=True, slots=True)
class PreparedPreview:
    """A report that the caller may preview."""

    caller: Caller
    mart: str
    statement: ReportStatement
    report: ReportSettings
    day: str

    def run_query(self, platform: Platform, uid: str = "") -> AbstractContextManager[QueryRows]:
        """Read the first rows as the caller, outside of any transaction."""
        purpose, text = ReadPurpose("preview", self.mart), self.statement.sql
        return worker_client.run_query(platform, self.caller, purpose=purpose, uid=uid, text=text, rows=_PREVIEW_ROWS)


def prepare_preview(
    ctx: RequestContext,
    lake: IcebergCatalog,
    settings: Mapping[str, Any],
    mart: str,
    parameters: Mapping[str, str] | None = None,
) -> PreparedPreview:
    """Refuse unless the caller may use the data mart, as themselves."""
    readable_tables.refuse_impersonation(ctx)
    report = REPORT.parse(settings)
    statement = report_statement(ctx, lake, report, mart, parameters=parameters)
    return PreparedPreview(ctx.caller, mart, statement, report, report_day(ctx, report))


def check_message(ctx: RequestContext, lake: IcebergCatalog, settings: Mapping[str, Any], mart: str) -> None:
    """Refuse a report whose message names a column that it does not have."""
    report = REPORT.parse(settings)
    if report.message:
        MessageTemplate(report.message).check(selected_columns(report, query_source(ctx, lake, mart)))


def render_preview(platform: Platform, preview: PreparedPreview, name: str, uid: str = "") -> RenderedMessage:
    """Read the rows and render the message."""
    with preview.run_query(platform, uid) as found:
        labels, rows = tuple(found.batches.schema.names), found.rows()
    message, columns = MessageTemplate(preview.report.message or DEFAULT_TEMPLATE), preview.statement.columns
    return message.render(MessageData(name, preview.day, columns, rows, len(rows), found.complete, labels))
