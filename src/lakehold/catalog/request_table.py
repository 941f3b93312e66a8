"""Requests for access as they are kept."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

import sqlalchemy as sa

from lakehold.access.facts.records import Fact, require_moment
from lakehold.catalog import proposals
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.database import ExactText, IdType, metadata

PENDING, APPROVED, REFUSED, WITHDRAWN, EXPIRED = "pending", "approved", "refused", "withdrawn", "expired"

table = sa.Table(
    "access_request",
    metadata,
    sa.Column("n", IdType, primary_key=True, autoincrement=True),
    sa.Column("tenant_id", IdType, nullable=False),
    sa.Column("uid", ExactText, nullable=False),
    sa.Column("asker", ExactText, nullable=False),
    # As it was asked for: there may be no such resource.
    sa.Column("resource", ExactText, nullable=False),
    sa.Column("action", ExactText, nullable=False),
    sa.Column("facts", sa.Text, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("asked_at", IdType, nullable=False),
    sa.Column("expires_at", IdType, nullable=False),
    sa.Column("decided_at", IdType),
    sa.Column("decided_by", ExactText, nullable=False),
    sa.Column("answer", sa.Text, nullable=False),
    sa.Column("until", IdType),
)
sa.Index("request_by_uid", table.c.tenant_id, table.c.uid, unique=True)
sa.Index("request_by_asker", table.c.tenant_id, table.c.asker, table.c.n)
sa.Index("request_by_state", table.c.tenant_id, table.c.state, table.c.n)


@dataclass(frozen=True, slots=True)
class Request:
    """One request."""

    n: int
    uid: str
    asker: str
    resource: str
    action: str
    facts: tuple[Fact, ...]
    reason: str
    state: str
    asked_at: Moment
    expires_at: Moment
    decided_at: Moment | None = None
    decided_by: str = ""
    answer: str = ""
    until: Moment | None = None


def insert(ctx: RequestContext, request: Request) -> Request:
    """Keep a new one."""
    values = asdict(request) | {"facts": proposals.kept(request.facts), "tenant_id": ctx.session.tenant}
    del values["n"]
    result = ctx.session.transaction.connection.execute(table.insert().values(**values))
    key = result.inserted_primary_key
    assert key is not None  # noqa: S101 - every table has a key
    return replace(request, n=int(key[0]))


def update(ctx: RequestContext, request: Request, **values: object) -> Request:
    """Change one. An answer is written with who gave it and when."""
    if values.get("until") is not None:
        values["until"] = require_moment(values["until"])
    if "state" in values:
        values |= {"decided_at": ctx.at, "decided_by": ctx.caller.member}
    c = table.c
    which = sa.and_(c.tenant_id == ctx.session.tenant, c.n == request.n)
    ctx.session.transaction.connection.execute(table.update().where(which).values(**values))
    return replace(request, **values)  # type: ignore[arg-type]


def read(ctx: RequestContext, uid: str) -> Request | None:
    """The one of this id."""
    return next(iter(rows(ctx, table.c.uid == uid, limit=1)), None)


def pending_of(
    ctx: RequestContext, asker: str, resource: str | None = None, action: str | None = None
) -> list[Request]:
    """What somebody has asked for, all of it or about one thing, and nobody has answered."""
    c = table.c
    which = (c.asker == asker) & (c.state == PENDING) & (c.expires_at > ctx.at)
    for column, value in ((c.resource, resource), (c.action, action)):
        which = which if value is None else which & (column == value)
    return rows(ctx, which, limit=1_000)


def rows(
    ctx: RequestContext, which: sa.ColumnElement[bool], *, before: int | None = None, limit: int = 50
) -> list[Request]:
    """Some of them, newest first. What has waited too long counts as expired, written down or not."""
    c = table.c
    query = sa.select(table).where(c.tenant_id == ctx.session.tenant, which)
    if before is not None:
        query = query.where(c.n < before)
    found = ctx.session.transaction.connection.execute(query.order_by(c.n.desc()).limit(limit)).mappings()
    return [_request(row, ctx.at) for row in found]


def in_state(state: str, at: Moment) -> sa.ColumnElement[bool]:
    """Whether a request is in this state. What has waited too long counts as expired, written down or not."""
    c = table.c
    match state:
        case "pending":
            return (c.state == PENDING) & (c.expires_at > at)
        case "expired":
            return (c.state == EXPIRED) | ((c.state == PENDING) & (c.expires_at <= at))
        case _:
            return c.state == state


def lapse(ctx: RequestContext) -> list[str]:
    """Write down which have waited too long."""
    c = table.c
    which = sa.and_(c.tenant_id == ctx.session.tenant, c.state == PENDING, c.expires_at <= ctx.at)
    connection = ctx.session.transaction.connection
    found = list(connection.execute(sa.select(c.uid).where(which).order_by(c.n)).scalars())
    connection.execute(table.update().where(which).values(state=EXPIRED, decided_at=ctx.at))
    return found


def _request(row: sa.RowMapping, at: Moment) -> Request:
    values = {name: row[name] for name in Request.__dataclass_fields__}
    values["facts"] = tuple(proposals.read(row["facts"]))
    if values["state"] == PENDING and values["expires_at"] <= at:
        values["state"] = EXPIRED
    return Request(**values)
