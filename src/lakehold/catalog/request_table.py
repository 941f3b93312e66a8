"""Storage of requests for access, and of the facts that they ask for."""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice

import sqlalchemy as sa

from lakehold.access import Attribute, Edge, Grant
from lakehold.access.decisions.ways import MOST_WAYS, Way, WayFinder, rank_ways
from lakehold.access.facts.changes import fact_holds, resolve_fact
from lakehold.access.facts.records import Fact, require_moment
from lakehold.access.facts.view import FactView
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.database import ExactText, IdType, metadata
from lakehold.kit.errors import LakeholdError

_TYPES: dict[str, type[Fact]] = {"grant": Grant, "attribute": Attribute, "edge": Edge}


def find_ways(view: FactView, member: str, action: str, uid: str) -> list[Way]:
    """Return the nearest ways to allow the action for those who can give, also with facts hidden from the member."""
    here, subject = view.resource(uid), view.subject(view.member(member))
    expression = view.policy.action(view.kind(here), action)
    finder = WayFinder(view)
    nearest = islice(finder.find(expression, view.kind(here), subject, here), MOST_WAYS)
    return [way for _, way in rank_ways(view, uid, [Way(finder.missing_facts(facts)) for facts in nearest])]


def way_facts(way: Way) -> list[Fact]:
    """Return the facts that a way needs."""
    return [needed.fact for needed in way.needed]


def find_givers(view: FactView, facts: Iterable[Fact]) -> list[str]:
    """Return the members nearest to giving one of these facts."""
    finder = WayFinder(view)
    found = dict.fromkeys(giver for needed in finder.missing_facts(frozenset(facts)) for giver in needed.givers)
    return list(found)


def dump_facts(facts: Collection[Fact]) -> str:
    """Return facts as JSON text, always in the same order."""
    rows = [{"fact": type(fact).__name__.lower(), **asdict(fact)} for fact in facts]
    return json.dumps(sorted(rows, key=lambda row: json.dumps(row, sort_keys=True)), sort_keys=True)


def load_facts(text: str) -> list[Fact]:
    """Return the facts of a stored JSON text."""
    return [_TYPES[row.pop("fact")](**row) for row in json.loads(text)]


def missing_facts(view: FactView, facts: Sequence[Fact]) -> list[Fact] | None:
    """Return the facts that do not hold yet; None if one can never hold again, as when its resource is gone."""
    left = []
    for fact in facts:
        try:
            row = resolve_fact(view, fact)
        except LakeholdError:
            return None
        if not fact_holds(view, row):
            left.append(fact)
    return left


PENDING, APPROVED, REFUSED, WITHDRAWN, EXPIRED = "pending", "approved", "refused", "withdrawn", "expired"

access_request_table = sa.Table(
    "access_request",
    metadata,
    sa.Column("n", IdType, primary_key=True, autoincrement=True),
    sa.Column("tenant_id", IdType, nullable=False),
    sa.Column("uid", ExactText, nullable=False),
    sa.Column("asker", ExactText, nullable=False),
    # As it was requested: there may be no such resource.
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
sa.Index("request_by_uid", access_request_table.c.tenant_id, access_request_table.c.uid, unique=True)
sa.Index("request_by_asker", access_request_table.c.tenant_id, access_request_table.c.asker, access_request_table.c.n)
sa.Index("request_by_state", access_request_table.c.tenant_id, access_request_table.c.state, access_request_table.c.n)


@dataclass(frozen=True, slots=True)
class AccessRequest:
    """One request for access."""

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


def insert(ctx: RequestContext, request: AccessRequest) -> AccessRequest:
    """Insert a new request."""
    values = asdict(request) | {"facts": dump_facts(request.facts)}
    del values["n"]
    return replace(request, n=int(ctx.rows(access_request_table).insert(**values)))


def update(ctx: RequestContext, request: AccessRequest, **values: object) -> AccessRequest:
    """Update a request. A change of state is stored with who made it and when."""
    if values.get("until") is not None:
        values["until"] = require_moment(values["until"])
    if "state" in values:
        values |= {"decided_at": ctx.at, "decided_by": ctx.caller.member}
    ctx.rows(access_request_table).update(access_request_table.c.n == request.n, **values)
    return replace(request, **values)  # type: ignore[arg-type]


def get(ctx: RequestContext, uid: str) -> AccessRequest | None:
    """Return the request with this id."""
    return next(iter(list_requests(ctx, access_request_table.c.uid == uid, limit=1)), None)


def list_pending(
    ctx: RequestContext, asker: str, resource: str | None = None, action: str | None = None
) -> list[AccessRequest]:
    """Return somebody's pending requests, all or those about one resource and action."""
    c = access_request_table.c
    which = (c.asker == asker) & (c.state == PENDING) & (c.expires_at > ctx.at)
    for column, value in ((c.resource, resource), (c.action, action)):
        which = which if value is None else which & (column == value)
    return list_requests(ctx, which, limit=1_000)


def list_requests(
    ctx: RequestContext, which: sa.ColumnElement[bool], *, before: int | None = None, limit: int = 50
) -> list[AccessRequest]:
    """Return requests, newest first. Overdue ones count as expired, also before they are marked."""
    number = access_request_table.c.n
    older = sa.true() if before is None else number < before
    found = ctx.rows(access_request_table).select(which, older, order_by=(number.desc(),), limit=limit)
    return [_from_row(row, ctx.at) for row in found.mappings()]


def in_state(state: str, at: Moment) -> sa.ColumnElement[bool]:
    """Return the condition for requests in this state. Overdue ones count as expired, also before they are marked."""
    c = access_request_table.c
    match state:
        case "pending":
            return (c.state == PENDING) & (c.expires_at > at)
        case "expired":
            return (c.state == EXPIRED) | ((c.state == PENDING) & (c.expires_at <= at))
        case _:
            return c.state == state


def mark_expired(ctx: RequestContext) -> list[str]:
    """Mark overdue requests as expired, and return their ids."""
    c, rows = access_request_table.c, ctx.rows(access_request_table)
    overdue = (c.state == PENDING) & (c.expires_at <= ctx.at)
    found = list(rows.select(overdue, columns=(c.uid,), order_by=(c.n,)).scalars())
    rows.update(overdue, state=EXPIRED, decided_at=ctx.at)
    return found


def _from_row(row: sa.RowMapping, at: Moment) -> AccessRequest:
    values = {name: row[name] for name in AccessRequest.__dataclass_fields__}
    values["facts"] = tuple(load_facts(row["facts"]))
    if values["state"] == PENDING and values["expires_at"] <= at:
        values["state"] = EXPIRED
    return AccessRequest(**values)
