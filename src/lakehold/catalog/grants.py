"""Who holds which role on a resource, from when until when."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from lakehold.access import Add, Grant, Remove
from lakehold.access.facts import tables
from lakehold.access.facts.records import require_moment, require_text
from lakehold.catalog import kinds, sharing
from lakehold.catalog.shapes import Ref, VisibleRefs
from lakehold.directory.request_context import RequestContext, When
from lakehold.kit.clock import Moment
from lakehold.kit.errors import InvalidInputError, NotFoundError
from lakehold.kit.ids import quote


@dataclass(frozen=True, slots=True)
class Held:
    """A role that somebody holds, or will."""

    subject: Ref
    role: str
    title: str
    resource: Ref
    since: Moment
    until: Moment


def give(ctx: RequestContext, grant: Grant, *, since: When | None = None, until: When | None = None) -> None:
    """Give a role to a member or a group, from now on or for a time."""
    ctx.make(Add(grant), since=since, until=until)


def revoke(ctx: RequestContext, grant: Grant) -> None:
    """Take a role away, also one that has not begun."""
    _need_held(ctx, grant)
    ctx.make(Remove(grant))


def change(ctx: RequestContext, grant: Grant, role: str, *, until: When | None = None) -> None:
    """Let the subject hold another role in place of this one, or the same one until another time."""
    _need_held(ctx, grant)
    wanted = Grant(grant.subject, require_text(role, "role"), grant.resource)
    # Both are asked about first: who gives away their own right by the first step could not make the second.
    ctx.need_change(Add(wanted))
    if wanted.role != grant.role:
        ctx.need_change(Remove(grant))
        ctx.made(Remove(grant))
    ctx.made(Add(wanted), until=_later(ctx, until))


def direct(ctx: RequestContext, uid: str) -> list[Held]:
    """Who holds what on the resource itself. Those who give roles here, or may ask about others, see all of it;
    everybody else sees their own, and those roles that go to a person: whom to turn to.
    """
    ctx.see(uid)
    found = tables.grants_on(ctx.session.transaction, ctx.session.tenant, ctx.view.resource(uid), ctx.at)
    if not sharing.may_know_holders(ctx, uid):
        mine = ctx.session.read_view(lambda view: view.subject(view.member(ctx.caller.member)).ids_with_all)
        roles = kinds.schema_of(ctx.view, uid).roles
        found = [span for span in found if span.subject in mine or roles[span.role].person_only]
    return _held(ctx, found)


def held_by(ctx: RequestContext, subject: str, among: Collection[str] | None = None) -> list[Held]:
    """What a member or group itself holds, of what the caller may see; with `among`, on resources of these kinds.
    One's own, or by who may ask about others.
    """
    ctx.see(subject)
    mine = ctx.session.read_view(lambda view: view.subject(view.member(ctx.caller.member)).ids_with_all)
    number = ctx.view.resource(subject)
    if number not in mine:
        ctx.need(sharing.ASK, ctx.caller.tenant)
    found = tables.grants_held_by(ctx.session.transaction, ctx.session.tenant, number, ctx.at)
    if among is not None:
        found = ctx.session.read_view(lambda view: [span for span in found if view.kind(span.resource) in among])
    return _held(ctx, found)


def effective(ctx: RequestContext, action: str, uid: str) -> list[Ref]:
    """All members who may do this, by whatever path. For who gives roles here, or may ask about others."""
    ctx.see(uid)
    if not sharing.gives_here(ctx, uid):
        ctx.need(sharing.ASK, ctx.caller.tenant)
    return VisibleRefs(ctx).refs(ctx.session.who(action, uid))


def _held(ctx: RequestContext, found: list[tables.GrantPeriod]) -> list[Held]:
    eyes = VisibleRefs(ctx)
    held = []
    for span in found:
        who, what = eyes.numbered(span.subject), eyes.numbered(span.resource)
        if who and what:
            title = ctx.view.policy.role(what.kind, span.role).title
            held.append(Held(who, span.role, title, what, span.since, span.until))
    return sorted(held, key=lambda one: (one.resource.name, one.resource.uid, one.role, one.subject.name, one.since))


def _need_held(ctx: RequestContext, grant: Grant) -> None:
    """Refuse to take away what is not there: a slip in a name must not read as done."""
    for uid in (grant.resource, grant.subject):
        ctx.see(require_text(uid, "id"), "revoke")
    ctx.view.policy.role(ctx.view.kind(ctx.view.resource(grant.resource)), require_text(grant.role, "role"))
    here, who = ctx.view.resource(grant.resource), ctx.view.resource(grant.subject)
    found = tables.grants_on(ctx.session.transaction, ctx.session.tenant, here, ctx.at)
    if not any((span.subject, span.role) == (who, grant.role) for span in found):
        # Who may not take it away is not told whether it is held.
        ctx.need_change(Remove(grant))
        raise NotFoundError(f"{quote(grant.subject)} does not hold {quote(grant.role)} there.", "Look at who does.")


def _later(ctx: RequestContext, until: When | None) -> When | None:
    if until is not None and require_moment(until) <= ctx.at:
        raise InvalidInputError("The end of a grant lies in the future.", "Choose a later end, or revoke it now.")
    return until
