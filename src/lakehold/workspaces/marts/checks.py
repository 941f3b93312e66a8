"""Data quality checks of data marts: their definition in the settings, and their results over time."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import sqlalchemy as sa

from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.database import IdType, Transaction, metadata
from lakehold.kit.errors import InvalidInputError
from lakehold.workspaces.marts import mart_kinds
from lakehold.workspaces.settings_reader import SettingsReader


class CheckKind(StrEnum):
    """The kind of a check."""

    NOT_NULL = "not null"
    UNIQUE = "unique"
    ACCEPTED_VALUES = "accepted values"
    ROW_COUNT = "row count"
    FRESHNESS = "freshness"
    SQL = "sql"


@dataclass(frozen=True, slots=True)
class QualityCheck:
    """One check of a data mart."""

    kind: CheckKind
    name: str
    fields: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    least: int = 0
    most: int | None = None
    hours: float = 0
    sql: str = ""
    """Gives the rows that are wrong."""
    stops: bool = False
    """Whether a run fails if it is broken; else it warns."""

    @classmethod
    def from_settings(cls, reader: SettingsReader) -> QualityCheck:
        """Return the check that the settings describe, or raise if they are invalid."""
        kind = CheckKind(reader.one_of("check", tuple(CheckKind), ""))
        fields = reader.texts("fields")
        if kind not in {CheckKind.ROW_COUNT, CheckKind.SQL} and not fields:
            raise InvalidInputError(f"A check of {kind} is of a field.", "Name it in fields.")
        if kind in {CheckKind.NOT_NULL, CheckKind.ACCEPTED_VALUES, CheckKind.FRESHNESS} and len(fields) > 1:
            raise InvalidInputError(f"A check of {kind} is of one field.", "Write one check for each.")
        values = reader.texts("values")
        if kind is CheckKind.ACCEPTED_VALUES and not values:
            raise InvalidInputError(f"A check of {kind} names them.", "Write them in values.")
        least, most = reader.count("least", 0), reader.count("most", 0) if reader.has("most") else None
        if most is not None and most < least:
            raise InvalidInputError(f"{most:,} rows at the most are less than {least:,}.", "Correct least or most.")
        return cls(
            kind,
            reader.text("name", " ".join((kind, *fields)).strip()),
            fields,
            values,
            least,
            most,
            reader.number("hours", 24),
            reader.text("sql") if kind is CheckKind.SQL else "",
            reader.flag("stops", default=False),
        )


def load_checks(reader: SettingsReader) -> tuple[QualityCheck, ...]:
    """Return all checks of a data mart."""
    return tuple(QualityCheck.from_settings(each) for each in reader.nested_list("checks"))


quality_table = sa.Table(
    "quality",
    metadata,
    sa.Column("n", IdType, primary_key=True, autoincrement=True),
    sa.Column("tenant_id", IdType, nullable=False),
    # The data mart.
    sa.Column("resource_id", IdType, nullable=False),
    # Which look it was: a step that is done again looks once.
    sa.Column("mark", sa.Text, nullable=False),
    sa.Column("at", IdType, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("said", sa.Text, nullable=False),
)
sa.Index("quality_by_resource", quality_table.c.tenant_id, quality_table.c.resource_id, quality_table.c.n)
sa.Index("quality_by_mark", quality_table.c.tenant_id, quality_table.c.mark)

KEPT, BROKEN, UNKNOWN = "kept", "broken", "unknown"
_CHECK_STEPS = (0, 1)
"""Where a run looks at checks: after the refresh, or without one."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check."""

    name: str
    state: str
    """Kept, broken, or unknown if it could not be evaluated."""
    said: str
    at: Moment = 0


def save_results(transaction: Transaction, tenant: int, resource: int, mark: str, outcomes: list[CheckResult]) -> None:
    """Store the results, once for each mark."""
    c = quality_table.c
    gone = sa.and_(c.tenant_id == tenant, c.resource_id == resource, c.mark == mark)
    transaction.connection.execute(quality_table.delete().where(gone))
    here = {"tenant_id": tenant, "resource_id": resource, "mark": mark}
    rows = [{**here, "name": each.name, "state": each.state, "said": each.said, "at": each.at} for each in outcomes]
    if rows:
        transaction.connection.execute(quality_table.insert(), rows)


def failed_results(ctx: RequestContext, run: str, since: Moment) -> list[CheckResult]:
    """Return the failed results of a run since a moment.

    For the platform's own use: who sends them checks access.
    """
    c = quality_table.c
    looked = c.mark.in_([f"{run}/{place}" for place in _CHECK_STEPS])
    mine = (c.tenant_id == ctx.session.tenant, looked, c.at >= since, c.state != KEPT)
    query = sa.select(quality_table).where(*mine).order_by(c.n)
    rows = ctx.session.transaction.connection.execute(query)
    return [CheckResult(row.name, row.state, row.said, row.at) for row in rows]


def list_results(ctx: RequestContext, mart: str, *, limit: int = 200) -> list[CheckResult]:
    """Return the results of a data mart, newest first, for those who see it."""
    mart_kinds.need_action(ctx, mart, mart_kinds.DATA_MART_KIND)
    c = quality_table.c
    query = (
        sa.select(quality_table)
        .where(c.tenant_id == ctx.session.tenant, c.resource_id == ctx.view.resource(mart))
        .order_by(c.n.desc())
        .limit(limit)
    )
    rows = ctx.session.transaction.connection.execute(query)
    return [CheckResult(row.name, row.state, row.said, row.at) for row in rows]
