"""API tokens: shown once, stored as a hash, with their member's rights or a narrower scope."""

import json
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, field

import sqlalchemy as sa

from lakehold.access import TokenPrincipal
from lakehold.access.model.errors import did_you_mean
from lakehold.directory import accounts, secret_tokens
from lakehold.directory.act_for import MANAGE, need_act_for, need_self_or_manager, need_unrestricted
from lakehold.directory.caller import Caller
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY, FOREVER, Moment
from lakehold.kit.database import ExactText, IdType, Transaction
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.kit.ids import quote, valid_name

MAX_SCOPE = 100


def valid_actions(ctx: RequestContext, actions: Collection[str] | None) -> tuple[str, ...] | None:
    """Return the actions, if each is an action of some kind. None does not restrict."""
    if actions is None:
        return None
    known = {action for kind in ctx.view.policy.kinds.values() for action in kind.schema.actions} | {"create"}
    for action in _checked_scope(actions, "actions"):
        if action not in known:
            raise InvalidInputError(f"No kind has an action {quote(str(action))}.", did_you_mean(str(action), known))
    return tuple(sorted(set(actions)))


def valid_resources(ctx: RequestContext, resources: Collection[str] | None) -> tuple[str, ...] | None:
    """Return the resources, if the caller may see each. None does not restrict."""
    if resources is None:
        return None
    for resource in _checked_scope(resources, "resources"):
        ctx.need_visible(resource, "make tokens")
    return tuple(sorted(set(resources)))


def _checked_scope(given: Collection[str], what: str) -> Collection[str]:
    if isinstance(given, str) or not 1 <= len(given) <= MAX_SCOPE:
        raise InvalidInputError(
            f"A token is narrowed to 1 to {MAX_SCOPE} {what}.",
            "Leave them out for a token that is not narrowed by them.",
        )
    return given


token_table = secret_tokens.secret_table(
    "token",
    sa.Column("member_id", IdType, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    # JSON lists; NULL where it is not narrowed.
    sa.Column("actions", sa.Text),
    sa.Column("resources", sa.Text),
    sa.Column("made_by", ExactText, nullable=False),
    sa.Column("used_at", IdType, nullable=False),
    # What it is the way in of; NULL for most.
    sa.Column("through_id", IdType),
)
sa.Index("token_by_member", token_table.c.tenant_id, token_table.c.member_id)
sa.Index("token_by_time", token_table.c.tenant_id, token_table.c.made_at, token_table.c.id)

DEFAULT_DAYS, MAX_DAYS = 90, 3_650
MAX_TOKENS = 100
"""Of one member."""


@dataclass(frozen=True, slots=True)
class ApiToken:
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
        """The beginning of its secret, by which people recognise it."""
        return f"{secret_tokens.TOKEN}{self.id}"


@dataclass(frozen=True, slots=True)
class CreatedToken:
    """A token that was just created. Its secret is never shown again."""

    token: ApiToken
    secret: str = field(repr=False)


def create(
    ctx: RequestContext,
    name: str,
    *,
    member: str = "",
    days: int | None = DEFAULT_DAYS,
    actions: Collection[str] | None = None,
    resources: Collection[str] | None = None,
    integration: str = "",
) -> CreatedToken:
    """Create a token for oneself, or as an admin for a service account. The resources of an `integration` say at each
    time what its token reaches.
    """
    ctx.need_writable()
    need_unrestricted(ctx, "make tokens")
    owner = member or ctx.caller.member
    if owner != ctx.caller.member:
        need_act_for(ctx, "make tokens", owner)
        account = accounts.get(ctx, owner)
        if account is None or not account.service:
            message = f"{quote(owner)} is a person."
            raise ConflictError(message, "People create their own tokens; create a service account.")
    valid_label, until = valid_name(name), _expiry(ctx, days)
    if len(list_of_member(ctx, owner)) >= MAX_TOKENS:
        raise ConflictError(f"There are {MAX_TOKENS} tokens already.", "Revoke those that are not used any more.")
    fresh = secret_tokens.generate(secret_tokens.TOKEN)
    narrowed = valid_actions(ctx, actions), valid_resources(ctx, resources)
    token = ApiToken(fresh.id, owner, valid_label, *narrowed, ctx.caller.member, ctx.at, until, 0)
    scope = {key: list(value) for key, value in zip(_SCOPE, narrowed, strict=True) if value is not None}
    stored = asdict(token) | dict.fromkeys(_SCOPE) | {key: json.dumps(value) for key, value in scope.items()}
    del stored["member"]
    integration_id = ctx.view.resource(integration) if integration else None
    ctx.rows(token_table).insert(**stored, member_id=ctx.view.member(owner), hash=fresh.hash, through_id=integration_id)
    ctx.note("make token", owner, after={"token": token.id, "name": valid_label, "until": until, **scope})
    return CreatedToken(token, fresh.text)


def list_of_member(ctx: RequestContext, member: str) -> list[ApiToken]:
    """Return a member's tokens, newest first, for themself and for those who manage members."""
    need_self_or_manager(ctx, "see tokens", member)
    return _list(ctx, token_table.c.member_id == ctx.view.member(member))


def list_all(ctx: RequestContext, *, after: tuple[Moment, str] | None = None, limit: int = 50) -> list[ApiToken]:
    """Return all tokens of the tenant, newest first, after the given key, for those who manage members."""
    need_unrestricted(ctx, "see tokens")
    ctx.need(MANAGE, ctx.caller.tenant)
    c = token_table.c
    older = sa.true() if after is None else sa.tuple_(c.made_at, c.id) < sa.tuple_(*map(sa.literal, after))
    return _list(ctx, older, limit)


def list_of_integration(ctx: RequestContext, uid: str) -> list[ApiToken]:
    """Return the tokens of an integration, newest first; one's own, or all for those who manage members."""
    need_unrestricted(ctx, "see tokens")
    return _own_or_managed(ctx, _list(ctx, token_table.c.through_id == ctx.view.resource(uid)))


def get(ctx: RequestContext, id_: str) -> ApiToken:
    """Return one token, of one's own or as a manager of members."""
    need_unrestricted(ctx, "see tokens")
    found = _own_or_managed(ctx, _list(ctx, token_table.c.id == id_))
    if not found:
        raise NotFoundError(f"There is no token {quote(id_)}.", "Check the ID in the list of tokens.")
    return found[0]


def _own_or_managed(ctx: RequestContext, found: list[ApiToken]) -> list[ApiToken]:
    manages = ctx.session.check(ctx.principal, MANAGE, ctx.caller.tenant)
    return [token for token in found if manages or token.member == ctx.caller.member]


def revoke(ctx: RequestContext, id_: str) -> None:
    """Revoke a token at once."""
    ctx.need_writable()
    token = get(ctx, id_)
    ctx.rows(token_table).delete(token_table.c.id == token.id)
    ctx.note("revoke token", token.member, before={"token": token.id, "name": token.name})


def revoke_all_unchecked(ctx: RequestContext, member: str) -> None:
    """Revoke all tokens of a member without a check, as part of a new password."""
    names = [f"{token.name} ({token.id})" for token in _list(ctx, token_table.c.member_id == ctx.view.member(member))]
    if names:
        delete_of_member(ctx, member)
        ctx.note("revoke tokens", member, before={"tokens": names})


def delete_of_member(ctx: RequestContext, member: str) -> None:
    """Delete all tokens of a member without a check, as part of a removal."""
    ctx.rows(token_table).delete(token_table.c.member_id == ctx.view.member(member))


def authenticate(platform: Platform, secret: str) -> Caller:
    """Return the member whose token this is, in a transaction of its own, or refuse without saying why."""
    with platform.database.read() as transaction:
        found = find_caller(platform, transaction, secret)
    platform.last_used.flush(platform.database)
    if found is None:
        raise UnauthorizedError("This token is invalid or has expired.", "Create a new one.")
    return found


TokenScope = Callable[[RequestContext, int], Collection[str] | None]
"""Returns what a token of an integration reaches now, within the rights of its member; None if it is refused."""


def find_caller(
    platform: Platform, transaction: Transaction, secret: str, find_scope: TokenScope | None = None
) -> Caller | None:
    """Return the member whose token this is, with its scope; None if it is not valid (any more).

    Tokens of integrations are refused by doors that cannot find their scope.
    """
    at = platform.clock()
    found = secret_tokens.find_row(transaction, token_table, secret_tokens.TOKEN, secret, at)
    if found is None:
        return None
    platform.last_used.record(token_table, found, at)
    actions: Collection[str] | None = _parse_scope(found.actions)
    resources: Collection[str] | None = _parse_scope(found.resources)
    if found.through_id is not None:
        session = platform.access.session(transaction, found.tenant)
        ctx = RequestContext(session, Caller(found.tenant, found.member), platform.keys)
        resources = find_scope(ctx, found.through_id) if find_scope else None
        if resources is None:
            return None
    scope = (None if part is None else frozenset(part) for part in (actions, resources))
    narrowed = TokenPrincipal(found.member, *scope)
    return Caller(
        found.tenant, found.member, narrowed=narrowed if narrowed.is_narrowed else None, token_id=str(found.id)
    )


def _expiry(ctx: RequestContext, days: int | None) -> Moment:
    if days is not None and (type(days) is not int or not 1 <= days <= MAX_DAYS):
        raise InvalidInputError(
            f"A token lasts 1 to {MAX_DAYS:,} days.", "Leave the days out for a token without expiration."
        )
    expiry = FOREVER if days is None else ctx.at + days * DAY
    if not ctx.caller.token_id:
        return expiry
    # A token that is about to end must not go on in another one.
    made_with = _list(ctx, token_table.c.id == ctx.caller.token_id)
    return min([expiry, *(token.until for token in made_with)])


def _list(ctx: RequestContext, which: sa.ColumnElement[bool], limit: int | None = None) -> list[ApiToken]:
    c = token_table.c
    found = ctx.rows(token_table).select(which, order_by=(c.made_at.desc(), c.id.desc()), limit=limit).mappings()
    return [
        ApiToken(
            actions=_parse_scope(row["actions"]),
            resources=_parse_scope(row["resources"]),
            member=ctx.view.uid(row["member_id"]),
            **{name: row[name] for name in ("id", "name", "made_by", "made_at", "until", "used_at")},
        )
        for row in found
    ]


def _parse_scope(stored: str | None) -> tuple[str, ...] | None:
    return None if stored is None else tuple(json.loads(stored))


_SCOPE = ("actions", "resources")
