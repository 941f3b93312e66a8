"""Who holds which role on a resource, from when until when."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from lakehold.access import Add, Grant, Remove
from lakehold.access.facts import spans
from lakehold.access.facts.inputs import text, when
from lakehold.catalog import kinds, sharing
from lakehold.catalog.shapes import Eyes, Ref
from lakehold.directory.work import When, Work
from lakehold.kit.clock import Moment
from lakehold.kit.errors import InvalidInputError, NotFoundError
from lakehold.kit.ids import shown


@dataclass(frozen=True, slots=True)
class Held:
    """A role that somebody holds, or will."""

    subject: Ref
    role: str
    title: str
    resource: Ref
    since: Moment
    until: Moment


def give(work: Work, grant: Grant, *, since: When | None = None, until: When | None = None) -> None:
    """Give a role to a member or a group, from now on or for a time."""
    work.make(Add(grant), since=since, until=until)


def revoke(work: Work, grant: Grant) -> None:
    """Take a role away, also one that has not begun."""
    _need_held(work, grant)
    work.make(Remove(grant))


def change(work: Work, grant: Grant, role: str, *, until: When | None = None) -> None:
    """Let the subject hold another role in place of this one, or the same one until another time."""
    _need_held(work, grant)
    wanted = Grant(grant.subject, text(role, "role"), grant.resource)
    # Both are asked about first: who gives away their own right by the first step could not make the second.
    work.need_change(Add(wanted))
    if wanted.role != grant.role:
        work.need_change(Remove(grant))
        work.made(Remove(grant))
    work.made(Add(wanted), until=_later(work, until))


def direct(work: Work, uid: str) -> list[Held]:
    """Who holds what on the resource itself. Those who give roles here, or may ask about others, see all of it;
    everybody else sees their own, and those roles that go to a person: whom to turn to.
    """
    work.see(uid)
    found = spans.on(work.session.transaction, work.session.tenant, work.view.resource(uid), work.at)
    if not sharing.may_know_holders(work, uid):
        mine = work.session.asking(lambda view: view.subject(view.member(work.caller.member)).ids_with_all)
        roles = kinds.schema_of(work.view, uid).roles
        found = [span for span in found if span.subject in mine or roles[span.role].person_only]
    return _held(work, found)


def held_by(work: Work, subject: str, among: Collection[str] | None = None) -> list[Held]:
    """What a member or group itself holds, of what the caller may see; with `among`, on resources of these kinds.
    One's own, or by who may ask about others.
    """
    work.see(subject)
    mine = work.session.asking(lambda view: view.subject(view.member(work.caller.member)).ids_with_all)
    number = work.view.resource(subject)
    if number not in mine:
        work.need(sharing.ASK, work.caller.tenant)
    found = spans.held(work.session.transaction, work.session.tenant, number, work.at)
    if among is not None:
        found = work.session.asking(lambda view: [span for span in found if view.kind(span.resource) in among])
    return _held(work, found)


def effective(work: Work, action: str, uid: str) -> list[Ref]:
    """All members who may do this, by whatever path. For who gives roles here, or may ask about others."""
    work.see(uid)
    if not sharing.gives_here(work, uid):
        work.need(sharing.ASK, work.caller.tenant)
    return Eyes(work).refs(work.session.who(action, uid))


def _held(work: Work, found: list[spans.Span]) -> list[Held]:
    eyes = Eyes(work)
    held = []
    for span in found:
        who, what = eyes.numbered(span.subject), eyes.numbered(span.resource)
        if who and what:
            title = work.view.policy.role(what.kind, span.role).title
            held.append(Held(who, span.role, title, what, span.since, span.until))
    return sorted(held, key=lambda one: (one.resource.name, one.resource.uid, one.role, one.subject.name, one.since))


def _need_held(work: Work, grant: Grant) -> None:
    """Refuse to take away what is not there: a slip in a name must not read as done."""
    for uid in (grant.resource, grant.subject):
        work.see(text(uid, "id"), "revoke")
    work.view.policy.role(work.view.kind(work.view.resource(grant.resource)), text(grant.role, "role"))
    here, who = work.view.resource(grant.resource), work.view.resource(grant.subject)
    found = spans.on(work.session.transaction, work.session.tenant, here, work.at)
    if not any((span.subject, span.role) == (who, grant.role) for span in found):
        # Who may not take it away is not told whether it is held.
        work.need_change(Remove(grant))
        raise NotFoundError(f"{shown(grant.subject)} does not hold {shown(grant.role)} there.", "Look at who does.")


def _later(work: Work, until: When | None) -> When | None:
    if until is not None and when(until) <= work.at:
        raise InvalidInputError("The end of a grant lies in the future.", "Choose a later end, or revoke it now.")
    return until
