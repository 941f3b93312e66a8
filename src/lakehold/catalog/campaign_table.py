"""Access reviews in the database: the campaign, a row for each role held when it began, and what a caller sees."""

import json
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial

import sqlalchemy as sa

from lakehold.access import Grant
from lakehold.access.facts import tables
from lakehold.access.facts.store import Period
from lakehold.catalog import change_preview, kinds
from lakehold.catalog.grants import GrantedRole
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.database import ExactText, IdType, metadata

OPEN, KEEP, REMOVE = "", "keep", "remove"
UNDECIDED, KEPT, REMOVED, ENDED = STATES = ("undecided", "kept", "removed", "ended")
_STATE_OF_DECISION = {KEEP: KEPT, REMOVE: REMOVED}
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
    # The periods that the removal ended.
    sa.Column("removed", sa.Text),
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
    removed: str | None = None


@dataclass(frozen=True, slots=True)
class CampaignRow(GrantedRole):
    """A role that was held when the campaign began, as the caller may see it."""

    n: int
    state: str
    """One of `STATES`: ended is what nobody decided about, and is no longer held."""
    decided_by: ResourceRef | None
    decided_at: Moment | None
    removed: list[Period]
    """The periods that were taken, if it was removed."""

    @property
    def grant(self) -> Grant:
        """The grant under review."""
        return Grant(self.subject.uid, self.role, self.resource.uid)


@dataclass(frozen=True, slots=True)
class CampaignProgress:
    """Numbers of a campaign's rows by state, of those that the caller may see."""

    undecided: int = 0
    kept: int = 0
    removed: int = 0
    ended: int = 0

    @property
    def total(self) -> int:
        """The number of all rows."""
        return self.undecided + self.done

    @property
    def done(self) -> int:
        """The number of rows that need no decision any more."""
        return self.kept + self.removed + self.ended


def insert(ctx: RequestContext, campaign: Campaign, rows: Sequence[StoredDecision]) -> Campaign:
    """Insert a campaign with its rows."""
    values = asdict(campaign)
    del values["n"]
    created = replace(campaign, n=int(ctx.rows(campaign_table).insert(**values)))
    place = {"tenant_id": ctx.session.tenant, "campaign": created.n}
    if rows:
        lines = [asdict(row) | place for row in rows]
        ctx.session.transaction.connection.execute(decision_table.insert(), lines)
    return created


def get(ctx: RequestContext, uid: str) -> Campaign | None:
    """Return the campaign with this id."""
    return next(iter(list_campaigns(ctx, campaign_table.c.uid == uid, limit=1)), None)


def list_campaigns(
    ctx: RequestContext, which: sa.ColumnElement[bool], *, before: int | None = None, limit: int = 50
) -> list[Campaign]:
    """Return campaigns, newest first."""
    c = campaign_table.c
    older = sa.true() if before is None else c.n < before
    columns = [c[name] for name in Campaign.__dataclass_fields__]
    found = ctx.rows(campaign_table).select(which, older, columns=columns, order_by=(c.n.desc(),), limit=limit)
    return [Campaign(*row) for row in found]


def mark_closed(ctx: RequestContext, campaign: Campaign) -> Campaign:
    """Mark the campaign as closed."""
    ctx.rows(campaign_table).update(campaign_table.c.n == campaign.n, closed_at=ctx.at, closed_by=ctx.caller.member)
    return replace(campaign, closed_at=ctx.at, closed_by=ctx.caller.member)


def list_decisions(
    ctx: RequestContext, campaign: Campaign, only: Collection[int] | None = None
) -> list[StoredDecision]:
    """Return all rows of a campaign, or those with these numbers."""
    c, numbers = decision_table.c, sorted(only or ())
    batches = [c.n.in_(numbers[at : at + _AT_ONCE]) for at in range(0, len(numbers), _AT_ONCE)]
    columns = [c[name] for name in StoredDecision.__dataclass_fields__]
    return [
        StoredDecision(*row)
        for which in ([sa.true()] if only is None else batches)
        for row in ctx.rows(decision_table).select(c.campaign == campaign.n, which, columns=columns, order_by=(c.n,))
    ]


def save_decision(
    ctx: RequestContext, campaign: Campaign, row: CampaignRow, decision: str, removed: Sequence[Period] = ()
) -> None:
    """Store a decision, with who made it and when, and the periods that it ended; `OPEN` deletes it."""
    c = decision_table.c
    by = (None, "") if decision == OPEN else (ctx.at, ctx.caller.member)
    ctx.rows(decision_table).update(
        *(c.campaign == campaign.n, c.n == row.n),
        decision=decision,
        decided_at=by[0],
        decided_by=by[1],
        removed=json.dumps(removed) if removed else None,
    )


def load_progress(ctx: RequestContext, campaign: Campaign) -> CampaignProgress:
    """Return the progress. Whether the caller takes part in the campaign has been checked before."""
    return CampaignProgress(**Counter(row.state for row in visible_rows(ctx, campaign)))


def visible_rows(ctx: RequestContext, campaign: Campaign, only: Collection[int] | None = None) -> list[CampaignRow]:
    """Return the rows that the caller may see, of all or of these numbers. That they take part was checked before."""
    visible_refs = VisibleRefs(ctx)
    gives_roles_on = cache(partial(change_preview.gives_roles_on, ctx))
    knows_all = change_preview.may_ask_about_others(ctx)
    own_subjects = ctx.session.read_view(lambda view: view.subject(view.member(ctx.caller.member)).ids_with_all)
    spans = tables.grants_inside(ctx.session.transaction, ctx.session.tenant, campaign.workspace_id, ctx.at)
    held = {(span.subject, span.role, span.resource) for span in spans}

    def to_row(stored: StoredDecision) -> CampaignRow | None:
        """Return the row as the caller sees it; None if they may not know of it, as in `grants.list_direct`."""
        who, what = visible_refs.by_number(stored.subject_id), visible_refs.by_number(stored.resource_id)
        if who is None or what is None:
            return None
        role = kinds.schema_of(ctx.view, what.uid).roles.get(stored.role)
        known = knows_all or stored.subject_id in own_subjects or gives_roles_on(what.uid)
        if not known and not (role is not None and role.person_only):
            return None
        is_held = (stored.subject_id, stored.role, stored.resource_id) in held
        return CampaignRow(
            n=stored.n,
            subject=who,
            role=stored.role,
            title=role.title if role else stored.role,
            resource=what,
            since=stored.since,
            until=stored.until,
            state=_STATE_OF_DECISION.get(stored.decision) or (UNDECIDED if is_held else ENDED),
            decided_by=visible_refs.ref(stored.decided_by),
            decided_at=stored.decided_at,
            # Removals of earlier releases have the whole time alone.
            removed=json.loads(stored.removed) if stored.removed else [(stored.since, stored.until)],
        )

    return [row for stored in list_decisions(ctx, campaign, only) if (row := to_row(stored)) is not None]
