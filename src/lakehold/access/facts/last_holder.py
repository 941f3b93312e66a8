"""Roles that must always be held: a tenant without an Owner could never have one again."""

from collections.abc import Sequence

import sqlalchemy as sa

from lakehold.access.facts import tables
from lakehold.access.facts.view import FactRow, FactView, GrantRow, role_bit
from lakehold.access.model.schema import RoleKind
from lakehold.kit.clock import FOREVER, Moment
from lakehold.kit.database import Transaction
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import quote


def refuse_removing_last_holder(view: FactView, row: FactRow) -> None:
    """Refuse to remove the last one who holds a role in the view."""
    if not isinstance(row, GrantRow):
        return
    role, bit = view.policy.role(view.kind(row.resource), row.role), role_bit(row.role)
    holders = [subject for subject, mask in (view.grants.get(row.resource) or {}).items() if mask & bit]
    if role.last_stays and holders == [row.subject]:
        raise _last_holder_error(view, row, role, "Give the role to somebody else first.")


def _last_holder_error(view: FactView, row: GrantRow, role: RoleKind, hint: str) -> ConflictError:
    holder, resource = quote(view.uid(row.subject)), quote(view.uid(row.resource))
    return ConflictError(f"{holder} is the last {role.title} of {resource}.", hint)


def refuse_losing_last_holder(
    transaction: Transaction, view: FactView, row: FactRow, since: Moment, now: Moment
) -> None:
    """Refuse to end a role from a moment on, if there would be a time from now on in which nobody holds it.

    The view does not say when a grant begins and ends, so the table is read.
    """
    if not isinstance(row, GrantRow):
        return
    kind = view.kind(row.resource)
    role = view.policy.role(kind, row.role)
    if not role.last_stays:
        return
    c = tables.grant.c
    query = sa.select(c.subject_id, c.since, c.until).where(
        c.resource_id == row.resource, c.role == f"{kind}.{row.role}", c.until > now, c.until > c.since
    )
    held = transaction.connection.execute(query).all()
    before = [(each.since, each.until) for each in held]
    after = [(each.since, min(each.until, since) if each.subject_id == row.subject else each.until) for each in held]
    if _is_always_held(before, now) and not _is_always_held(after, now):
        raise _last_holder_error(view, row, role, "Give the role to somebody else first, without an end.")


def refuse_replacing_for_a_time(transaction: Transaction, view: FactView, row: FactRow, since: Moment) -> None:
    """Refuse to give a role of a single person for a time, if it would be taken from somebody who holds it then.

    After that time, or if it is revoked before it begins, nobody would hold it.
    """
    if not isinstance(row, GrantRow):
        return
    kind = view.kind(row.resource)
    role = view.policy.role(kind, row.role)
    if not role.single:
        return
    c = tables.grant.c
    others = sa.select(c.id).where(
        c.resource_id == row.resource,
        c.role == f"{kind}.{row.role}",
        c.subject_id != row.subject,
        c.until > since,
        c.until > c.since,
    )
    if transaction.connection.execute(others).first() is not None:
        what = f"{quote(role.title)} of {quote(view.uid(row.resource))}"
        raise InvalidInputError(
            f"{what} is held by one person, and changes hands at once and without an end.",
            "Leave the times out; it can be given back later.",
        )


def _is_always_held(periods: Sequence[tuple[Moment, Moment]], now: Moment) -> bool:
    """Return whether the periods leave no gap from now on."""
    reached = now
    for since, until in sorted(periods):
        if since <= reached:
            reached = max(reached, until)
    return reached >= FOREVER
