"""Storage of access reviews: the campaign, and one row for each role that was held when it began."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, replace

import sqlalchemy as sa

from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.database import ExactText, IdType, metadata

OPEN, KEEP, REMOVE = "", "keep", "remove"
_AT_ONCE = 500

campaign_table = sa.Table(
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
sa.Index("campaign_by_uid", campaign_table.c.tenant_id, campaign_table.c.uid, unique=True)
sa.Index("campaign_by_workspace", campaign_table.c.tenant_id, campaign_table.c.workspace_id, campaign_table.c.n)

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
    """One access review over a workspace."""

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
class StoredDecision:
    """A role that was held when the campaign began, with the decision about it."""

    n: int
    subject_id: int
    role: str
    resource_id: int
    since: Moment
    until: Moment
    decision: str = OPEN
    decided_at: Moment | None = None
    decided_by: str = ""


def insert(ctx: RequestContext, campaign: Campaign, rows: Sequence[StoredDecision]) -> Campaign:
    """Insert a campaign with its rows."""
    values = asdict(campaign) | {"tenant_id": ctx.session.tenant}
    del values["n"]
    connection = ctx.session.transaction.connection
    key = connection.execute(campaign_table.insert().values(**values)).inserted_primary_key
    assert key is not None  # noqa: S101 - every table has a key
    created = replace(campaign, n=int(key[0]))
    place = {"tenant_id": ctx.session.tenant, "campaign": created.n}
    if rows:
        connection.execute(decision_table.insert(), [asdict(row) | place for row in rows])
    return created


def get(ctx: RequestContext, uid: str) -> Campaign | None:
    """Return the campaign with this id."""
    return next(iter(list_campaigns(ctx, campaign_table.c.uid == uid, limit=1)), None)


def list_campaigns(
    ctx: RequestContext, which: sa.ColumnElement[bool], *, before: int | None = None, limit: int = 50
) -> list[Campaign]:
    """Return campaigns, newest first."""
    c = campaign_table.c
    query = sa.select(campaign_table).where(c.tenant_id == ctx.session.tenant, which)
    if before is not None:
        query = query.where(c.n < before)
    found = ctx.session.transaction.connection.execute(query.order_by(c.n.desc()).limit(limit)).mappings()
    return [Campaign(**{name: row[name] for name in Campaign.__dataclass_fields__}) for row in found]


def mark_closed(ctx: RequestContext, campaign: Campaign) -> Campaign:
    """Mark the campaign as closed."""
    values = {"closed_at": ctx.at, "closed_by": ctx.caller.member}
    c = campaign_table.c
    which = sa.and_(c.tenant_id == ctx.session.tenant, c.n == campaign.n)
    ctx.session.transaction.connection.execute(campaign_table.update().where(which).values(**values))
    return replace(campaign, closed_at=ctx.at, closed_by=ctx.caller.member)


def list_decisions(
    ctx: RequestContext, campaign: Campaign, only: Collection[int] | None = None
) -> list[StoredDecision]:
    """Return all rows of a campaign, or those with these numbers."""
    parts: Iterator[sa.ColumnElement[bool]] = iter([sa.true()])
    if only is not None:
        ordered = sorted(only)
        parts = (decision_table.c.n.in_(ordered[at : at + _AT_ONCE]) for at in range(0, len(ordered), _AT_ONCE))
    return [row for part in parts for row in _load_decisions(ctx, campaign, part)]


def save_decision(ctx: RequestContext, campaign: Campaign, row: StoredDecision, decision: str) -> None:
    """Store a decision, with who made it and when; `OPEN` deletes it."""
    c = decision_table.c
    open_again = decision == OPEN
    values = {
        "decision": decision,
        "decided_at": None if open_again else ctx.at,
        "decided_by": "" if open_again else ctx.caller.member,
    }
    which = sa.and_(c.tenant_id == ctx.session.tenant, c.campaign == campaign.n, c.n == row.n)
    ctx.session.transaction.connection.execute(decision_table.update().where(which).values(**values))


def _load_decisions(ctx: RequestContext, campaign: Campaign, which: sa.ColumnElement[bool]) -> list[StoredDecision]:
    c = decision_table.c
    columns = [c[name] for name in StoredDecision.__dataclass_fields__]
    query = sa.select(*columns).where(c.tenant_id == ctx.session.tenant, c.campaign == campaign.n, which)
    return [StoredDecision(*row) for row in ctx.session.transaction.connection.execute(query.order_by(c.n))]
