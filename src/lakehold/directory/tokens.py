"""API tokens: shown once, kept as a hash, living with their member's rights, and narrowed if wanted, never widened."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field

import sqlalchemy as sa

from lakehold.access import TokenPrincipal as Narrowed
from lakehold.directory import accounts, credentials, holders, narrowing, ways_in
from lakehold.directory.caller import Caller
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.directory.standing import MANAGE, need_over, need_own, need_whole
from lakehold.kit.clock import DAY, FOREVER, Moment
from lakehold.kit.database import ExactText, IdType, Transaction, metadata
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.kit.ids import quote, valid_name

token_table = sa.Table(
    "token",
    metadata,
    sa.Column("id", ExactText, primary_key=True),
    sa.Column("tenant_id", IdType, nullable=False),
    sa.Column("member_id", IdType, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    # JSON lists; NULL where it is not narrowed.
    sa.Column("actions", sa.Text),
    sa.Column("resources", sa.Text),
    sa.Column("made_by", ExactText, nullable=False),
    sa.Column("made_at", IdType, nullable=False),
    sa.Column("until", IdType, nullable=False),
    sa.Column("used_at", IdType, nullable=False),
    # What it is the way in of; NULL for most.
    sa.Column("through_id", IdType),
)
sa.Index("token_by_member", token_table.c.tenant_id, token_table.c.member_id)
sa.Index("token_by_time", token_table.c.tenant_id, token_table.c.made_at, token_table.c.id)

DEFAULT_DAYS, MOST_DAYS = 90, 3_650
MOST = 100
"""Of one member."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token as it is listed: everything but the secret."""

    id: str
    member: str
    name: str
    actions: tuple[str, ...] | None
    """None: it is not narrowed by actions."""
    resources: tuple[str, ...] | None
    made_by: str
    made_at: Moment
    until: Moment
    used_at: Moment
    """0 if it has not been used yet."""

    @property
    def prefix(self) -> str:
        """How its secret begins, to be recognised by."""
        return f"{credentials.TOKEN}{self.id}"


@dataclass(frozen=True, slots=True)
class Made:
    """A token that was just made. Its secret is never shown again."""

    token: Token
    secret: str = field(repr=False)


def make(
    ctx: RequestContext,
    name: str,
    *,
    member: str = "",
    days: int | None = DEFAULT_DAYS,
    actions: Collection[str] | None = None,
    resources: Collection[str] | None = None,
    through: str = "",
) -> Made:
    """Make a token for oneself, or as an admin for a service account. What it is the way in `through` says at each time
    what it reaches.
    """
    ctx.writing()
    need_whole(ctx, "make tokens")
    owner = member or ctx.caller.member
    if owner != ctx.caller.member:
        need_over(ctx, "make tokens", owner)
        _refuse_a_person(ctx, owner)
    called, until = valid_name(name), _until(ctx, days)
    if len(of(ctx, owner)) >= MOST:
        raise ConflictError(f"There are {MOST} tokens already.", "Revoke those that are not used any more.")
    fresh = credentials.new(credentials.TOKEN)
    token = Token(
        fresh.id,
        owner,
        called,
        narrowing.to_actions(ctx, actions),
        narrowing.to_resources(ctx, resources),
        ctx.caller.member,
        ctx.at,
        until,
        0,
    )
    _insert(ctx, token, fresh.hash, ctx.view.resource(through) if through else None)
    narrowed = {"actions": token.actions, "resources": token.resources}
    told = {key: list(value) for key, value in narrowed.items() if value is not None}
    ctx.note("make token", owner, after={"token": token.id, "name": called, "until": until, **told})
    return Made(token, fresh.text)


def of(ctx: RequestContext, member: str) -> list[Token]:
    """A member's tokens, the newest first: for themself, and for those who keep members."""
    need_own(ctx, "see tokens", member)
    return _list(ctx, token_table.c.member_id == ctx.view.member(member))


def every(ctx: RequestContext, *, after: tuple[Moment, str] | None = None, limit: int = 50) -> list[Token]:
    """All tokens of the tenant, the newest first, from behind one on: for those who keep members."""
    need_whole(ctx, "see tokens")
    ctx.need(MANAGE, ctx.caller.tenant)
    c = token_table.c
    older = sa.true() if after is None else sa.tuple_(c.made_at, c.id) < sa.tuple_(*map(sa.literal, after))
    return _list(ctx, older, limit)


def ways_into(ctx: RequestContext, uid: str) -> list[Token]:
    """The tokens that are the way in of something, the newest first: one's own, and all for those who keep members."""
    need_whole(ctx, "see tokens")
    found = _list(ctx, token_table.c.through_id == ctx.view.resource(uid))
    keeps = ctx.session.check(ctx.asker, MANAGE, ctx.caller.tenant)
    return [token for token in found if keeps or token.member == ctx.caller.member]


def one(ctx: RequestContext, id_: str) -> Token:
    """One token: of one's own, or as one who keeps members."""
    need_whole(ctx, "see tokens")
    found = _list(ctx, token_table.c.id == id_)
    own = [token for token in found if token.member == ctx.caller.member]
    if found and not own:
        own = found if ctx.session.check(ctx.asker, MANAGE, ctx.caller.tenant) else []
    if not own:
        raise NotFoundError(f"There is no token {quote(id_)}.", "Look the id up in the list of tokens.")
    return own[0]


def revoke(ctx: RequestContext, id_: str) -> None:
    """End a token at once."""
    ctx.writing()
    token = one(ctx, id_)
    _delete(ctx, token_table.c.id == token.id)
    ctx.note("revoke token", token.member, before={"token": token.id, "name": token.name})


def ended(ctx: RequestContext, member: str) -> None:
    """All tokens of a member end, where the right comes with something else: a removal."""
    _delete(ctx, token_table.c.member_id == ctx.view.member(member))


def caller_of_token(platform: Platform, transaction: Transaction, secret: str) -> Caller | None:
    """The member whose token this is, narrowed as it is; None if it is not valid (any more)."""
    at = platform.clock()
    found = holders.of(transaction, token_table, credentials.TOKEN, secret, at)
    if found is None:
        return None
    platform.uses.note(token_table, found, at)
    actions, resources = _narrowing(found.actions), _narrowing(found.resources)
    if found.through_id is not None:
        resources = ways_in.reached(transaction, found.tenant_id, found.through_id, at)
        if resources is None:
            return None
    narrowed = Narrowed(
        found.member,
        actions=None if actions is None else frozenset(actions),
        resources=None if resources is None else frozenset(resources),
    )
    return Caller(
        found.tenant, found.member, narrowed=narrowed if narrowed.is_narrowed else None, token_id=str(found.id)
    )


def caller(platform: Platform, secret: str) -> Caller:
    """The same outside of a transaction, or a refusal that does not say what was wrong."""
    with platform.database.read() as transaction:
        found = caller_of_token(platform, transaction, secret)
    platform.uses.write(platform.database)
    if found is None:
        raise UnauthorizedError("This token is not valid, or not any more.", "Make a new one.")
    return found


# What a token may be


def _refuse_a_person(ctx: RequestContext, member: str) -> None:
    account = accounts.of(ctx, member)
    if account is None or not account.service:
        raise ConflictError(f"{quote(member)} is a person.", "People make their own tokens; make a service account.")


def _until(ctx: RequestContext, days: int | None) -> Moment:
    if days is not None and (type(days) is not int or not 1 <= days <= MOST_DAYS):
        raise InvalidInputError(f"A token lasts 1 to {MOST_DAYS:,} days.", "Say no days at all for one without end.")
    wanted = FOREVER if days is None else ctx.at + days * DAY
    if not ctx.caller.token_id:
        return wanted
    # A token that is about to end must not go on in another one.
    made_with = _list(ctx, token_table.c.id == ctx.caller.token_id)
    return min([wanted, *(token.until for token in made_with)])


# Rows


def _insert(ctx: RequestContext, token: Token, kept: str, through: int | None) -> None:
    ctx.session.transaction.connection.execute(
        token_table.insert().values(
            id=token.id,
            tenant_id=ctx.session.tenant,
            member_id=ctx.view.member(token.member),
            hash=kept,
            name=token.name,
            actions=None if token.actions is None else json.dumps(token.actions),
            resources=None if token.resources is None else json.dumps(token.resources),
            made_by=token.made_by,
            made_at=token.made_at,
            until=token.until,
            used_at=0,
            through_id=through,
        )
    )


def _list(ctx: RequestContext, which: sa.ColumnElement[bool], limit: int | None = None) -> list[Token]:
    c = token_table.c
    query = (
        sa.select(token_table)
        .where(c.tenant_id == ctx.session.tenant, which)
        .order_by(c.made_at.desc(), c.id.desc())
        .limit(limit)
    )
    return [
        Token(
            row.id,
            ctx.view.uid(row.member_id),
            row.name,
            _narrowing(row.actions),
            _narrowing(row.resources),
            row.made_by,
            row.made_at,
            row.until,
            row.used_at,
        )
        for row in ctx.session.transaction.connection.execute(query)
    ]


def _delete(ctx: RequestContext, which: sa.ColumnElement[bool]) -> None:
    ends = token_table.delete().where(token_table.c.tenant_id == ctx.session.tenant, which)
    ctx.session.transaction.connection.execute(ends)


def _narrowing(kept: str | None) -> tuple[str, ...] | None:
    return None if kept is None else tuple(json.loads(kept))
