"""Access reviews as they are kept: the campaign, and one row for each role that was held when it began."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, replace

import sqlalchemy as sa

from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.database import ExactText, IdType, metadata

OPEN, KEEP, REMOVE = "", "keep", "remove"
_AT_ONCE = 500

table = sa.Table(
    "campaign",
    metadata,
    sa.Column("n", IdType, primary_key=True, autoincrement=True),
    sa.Column("tenant_id", IdType, nullable=False),
    sa.Column("uid", ExactText, nullable=False),
    sa.Column("workspace_id", IdType, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("asks", sa.Text, nullable=False),
    sa.Column("started_at", IdType, nullable=False),
    sa.Column("started_by", ExactText, nullable=False),
    sa.Column("due_at", IdType),
    sa.Column("closed_at", IdType),
    sa.Column("closed_by", ExactText, nullable=False),
)
sa.Index("campaign_by_uid", table.c.tenant_id, table.c.uid, unique=True)
sa.Index("campaign_by_workspace", table.c.tenant_id, table.c.workspace_id, table.c.n)

decision_table = sa.Table(
    "campaign_decision",
    metadata,
    sa.Column("tenant_id", IdType, primary_key=True),
    sa.Column("campaign", IdType, primary_key=True),
    sa.Column("n", sa.Integer, primary_key=True),
    sa.Column("subject_id", IdType, nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("resource_id", IdType, nullable=False),
    # The time for which the role was given, as it was when the campaign began.
    sa.Column("since", IdType, nullable=False),
    sa.Column("until", IdType, nullable=False),
    sa.Column("decision", sa.Text, nullable=False),
    sa.Column("decided_at", IdType),
    sa.Column("decided_by", ExactText, nullable=False),
)


@dataclass(frozen=True, slots=True)
class Campaign:
    """One campaign."""

    n: int
    uid: str
    workspace_id: int
    name: str
    asks: str
    started_at: Moment
    started_by: str
    due_at: Moment | None = None
    closed_at: Moment | None = None
    closed_by: str = ""


@dataclass(frozen=True, slots=True)
class Kept:
    """A role that was held when the campaign began, and what was decided about it."""

    n: int
    subject_id: int
    role: str
    resource_id: int
    since: Moment
    until: Moment
    decision: str = OPEN
    decided_at: Moment | None = None
    decided_by: str = ""


def insert(ctx: RequestContext, campaign: Campaign, rows: Sequence[Kept]) -> Campaign:
    """Keep a new one, with all that it asks about."""
    values = asdict(campaign) | {"tenant_id": ctx.session.tenant}
    del values["n"]
    connection = ctx.session.transaction.connection
    key = connection.execute(table.insert().values(**values)).inserted_primary_key
    assert key is not None  # noqa: S101 - every table has a key
    made = replace(campaign, n=int(key[0]))
    place = {"tenant_id": ctx.session.tenant, "campaign": made.n}
    if rows:
        connection.execute(decision_table.insert(), [asdict(row) | place for row in rows])
    return made


def read(ctx: RequestContext, uid: str) -> Campaign | None:
    """The one of this id."""
    return next(iter(campaigns(ctx, table.c.uid == uid, limit=1)), None)


def campaigns(
    ctx: RequestContext, which: sa.ColumnElement[bool], *, before: int | None = None, limit: int = 50
) -> list[Campaign]:
    """Some of them, newest first."""
    c = table.c
    query = sa.select(table).where(c.tenant_id == ctx.session.tenant, which)
    if before is not None:
        query = query.where(c.n < before)
    found = ctx.session.transaction.connection.execute(query.order_by(c.n.desc()).limit(limit)).mappings()
    return [Campaign(**{name: row[name] for name in Campaign.__dataclass_fields__}) for row in found]


def close(ctx: RequestContext, campaign: Campaign) -> Campaign:
    """Nothing more is decided in it."""
    values = {"closed_at": ctx.at, "closed_by": ctx.caller.member}
    c = table.c
    which = sa.and_(c.tenant_id == ctx.session.tenant, c.n == campaign.n)
    ctx.session.transaction.connection.execute(table.update().where(which).values(**values))
    return replace(campaign, closed_at=ctx.at, closed_by=ctx.caller.member)


def rows(ctx: RequestContext, campaign: Campaign, only: Collection[int] | None = None) -> list[Kept]:
    """All that it asks about, or some of it by number."""
    parts: Iterator[sa.ColumnElement[bool]] = iter([sa.true()])
    if only is not None:
        wanted = sorted(only)
        parts = (decision_table.c.n.in_(wanted[at : at + _AT_ONCE]) for at in range(0, len(wanted), _AT_ONCE))
    return [row for part in parts for row in _rows(ctx, campaign, part)]


def decide(ctx: RequestContext, campaign: Campaign, row: Kept, decision: str) -> None:
    """Write down what was decided, by whom and when; `OPEN` forgets it."""
    c = decision_table.c
    open_again = decision == OPEN
    values = {
        "decision": decision,
        "decided_at": None if open_again else ctx.at,
        "decided_by": "" if open_again else ctx.caller.member,
    }
    which = sa.and_(c.tenant_id == ctx.session.tenant, c.campaign == campaign.n, c.n == row.n)
    ctx.session.transaction.connection.execute(decision_table.update().where(which).values(**values))


def _rows(ctx: RequestContext, campaign: Campaign, which: sa.ColumnElement[bool]) -> list[Kept]:
    c = decision_table.c
    columns = [c[name] for name in Kept.__dataclass_fields__]
    query = sa.select(*columns).where(c.tenant_id == ctx.session.tenant, c.campaign == campaign.n, which)
    return [Kept(*row) for row in ctx.session.transaction.connection.execute(query.order_by(c.n))]
