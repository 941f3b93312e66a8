"""Sign-ins: each lasts for some days on one device, is listed, and can be ended from anywhere."""

from dataclasses import dataclass, field

import sqlalchemy as sa

from lakehold.directory import secret_tokens
from lakehold.directory.act_for import need_self_or_manager
from lakehold.directory.caller import Caller, ClientInfo
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY, Moment
from lakehold.kit.database import IdType, Transaction
from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import quote
from lakehold.kit.settings import Settings

sign_in_table = secret_tokens.secret_table(
    "sign_in",
    sa.Column("member_id", IdType, nullable=False),
    sa.Column("method", sa.Text, nullable=False),
    sa.Column("used_at", IdType, nullable=False),
    sa.Column("address", sa.Text, nullable=False),
    sa.Column("agent", sa.Text, nullable=False),
)
sa.Index("sign_in_by_member", sign_in_table.c.tenant_id, sign_in_table.c.member_id)
sa.Index("sign_in_by_end", sign_in_table.c.until)

_MAX_AGENT_LENGTH = 300


@dataclass(frozen=True, slots=True)
class CreatedSignIn:
    """A sign-in that was just created. The secret is for the browser only."""

    tenant: str
    member: str
    id: str
    until: Moment
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class SignIn:
    """One device on which a member is signed in."""

    id: str
    method: str
    made_at: Moment
    until: Moment
    used_at: Moment
    address: str
    agent: str
    current: bool
    """Whether it is the sign-in of this request."""


def create(ctx: RequestContext, settings: Settings, member: str, method: str, client: ClientInfo) -> CreatedSignIn:
    """Start a sign-in of a member whose identity has been verified."""
    fresh = secret_tokens.generate(secret_tokens.SIGN_IN)
    until = ctx.at + settings.session_days * DAY
    device = {"address": client.address, "agent": client.agent[:_MAX_AGENT_LENGTH]}
    columns = {"member_id": ctx.view.member(member), "method": method, "used_at": ctx.at, **device}
    secret_tokens.insert(ctx, sign_in_table, fresh, until, **columns)
    ctx.note("sign in", member, after={"method": method, "sign_in": fresh.id})
    return CreatedSignIn(ctx.caller.tenant, member, fresh.id, until, fresh.text)


def find_caller(platform: Platform, transaction: Transaction, secret: str) -> Caller | None:
    """Return the member whose sign-in this is; None if it is not valid (any more)."""
    at = platform.clock()
    found = secret_tokens.find_row(transaction, sign_in_table, secret_tokens.SIGN_IN, secret, at)
    if found is None:
        return None
    platform.last_used.record(sign_in_table, found, at)
    return Caller(found.tenant, found.member, sign_in_id=found.id)


def authenticate(platform: Platform, secret: str) -> Caller:
    """Return the member whose sign-in this is, in a transaction of its own, or refuse without saying why."""
    with platform.database.read() as transaction:
        found = find_caller(platform, transaction, secret)
    platform.last_used.flush(platform.database)
    if found is None:
        raise UnauthorizedError("This sign-in is invalid or has expired.", "Sign in again.")
    return found


def list_of_member(ctx: RequestContext, member: str) -> list[SignIn]:
    """Return the sign-ins of a member, newest first, for themself and for those who manage members."""
    need_self_or_manager(ctx, "see sign-ins", member)
    c, fields = sign_in_table.c, SignIn.__dataclass_fields__.keys() - {"current"}
    found = ctx.rows(sign_in_table).select(
        c.member_id == ctx.view.member(member), c.until > ctx.at, order_by=(c.made_at.desc(), c.id)
    )
    return [
        SignIn(**{name: row[name] for name in fields}, current=row["id"] == ctx.caller.sign_in_id)
        for row in found.mappings()
    ]


def end(ctx: RequestContext, member: str, id_: str) -> None:
    """Sign a member out on one device."""
    ctx.need_writable()
    need_self_or_manager(ctx, "end sign-ins", member)
    if not _end(ctx, member, sign_in_table.c.id == id_):
        raise NotFoundError(f"There is no sign-in {quote(id_)}.", "Check the ID in the list of sign-ins.")


def end_all(ctx: RequestContext, member: str, *, but: str = "") -> int:
    """Sign a member out everywhere, or everywhere else, and return the number of ended sign-ins."""
    ctx.need_writable()
    need_self_or_manager(ctx, "end sign-ins", member)
    return end_all_unchecked(ctx, member, but=but)


def end_all_unchecked(ctx: RequestContext, member: str, *, but: str = "") -> int:
    """Sign a member out without a check, as part of a password change or a removal."""
    return _end(ctx, member, sign_in_table.c.id != but)


def _end(ctx: RequestContext, member: str, which: sa.ColumnElement[bool]) -> int:
    count = ctx.rows(sign_in_table).delete(sign_in_table.c.member_id == ctx.view.member(member), which)
    if count:
        ctx.note("sign out", member, after={"sign_ins": count})
    return count
