"""On which side of a project its members are, and since when.

Technical is who holds Project Admin or Technical User in it, themself or by a group; business is every other member.
Above is who is its admin by their role in the tenant, and has not joined. Since when somebody is where they are is
worked out from grants and groups, which are closed and never deleted: so nothing has to be done when a role changes, a
grant comes to its end, or somebody leaves a group.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from lakehold.access.facts import tables
from lakehold.access.facts.tables import GrantPeriod
from lakehold.access.facts.view import FactView, role_bit
from lakehold.access.model.policy import MEMBER, MEMBER_OF
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import FOREVER, Moment

ADMIN, TECHNICAL_USER, BUSINESS_USER = ROLES = ("admin", "technical_user", "business_user")
"""The roles in a project, the highest first."""
_TECHNICAL = frozenset({ADMIN, TECHNICAL_USER})
_OF_TENANT = frozenset({"owner", "admin"})


class Side(StrEnum):
    """Where somebody is."""

    TECHNICAL = "technical"
    BUSINESS = "business"
    ABOVE = "above"


class Stretch(NamedTuple):
    """From one moment until another."""

    since: Moment
    until: Moment


_ALWAYS = Stretch(0, FOREVER)


def roles(view: FactView, project: str) -> dict[int, str]:
    """The highest role that each member holds in the project itself, by their number."""
    given = view.grants.get(view.resource(project)) or {}
    held: dict[int, int] = {}
    for subject, mask in given.items():
        who = [subject] if view.kind(subject) == MEMBER else view.edges_in[MEMBER_OF].get(subject) or ()
        for member in who:
            held[member] = held.get(member, 0) | mask
    # The group All means those who hold a role by themselves.
    to_all = given.get(view.everyone, 0)
    return {member: _highest(mask | to_all) for member, mask in held.items()}


def _highest(mask: int) -> str:
    return next((role for role in ROLES if mask & role_bit(role)), BUSINESS_USER)


def side_of(role: str | None) -> Side:
    """Where somebody is who holds this role in the project, or none."""
    if role is None:
        return Side.ABOVE
    return Side.TECHNICAL if role in _TECHNICAL else Side.BUSINESS


@dataclass(frozen=True, slots=True)
class Past:
    """When some members held what in a project, and in the tenant."""

    on_project: Mapping[int, list[GrantPeriod]]
    """By who held it."""
    on_tenant: Mapping[int, list[GrantPeriod]]
    stays: Mapping[int, Mapping[int, list[Stretch]]]
    """By member and group."""
    everyone: int
    at: Moment

    @classmethod
    def of(cls, ctx: RequestContext, project: str, members: Collection[int]) -> Past:
        """Of these members."""
        session, view = ctx.session, ctx.view
        tenant = session.tenant
        stays: dict[int, dict[int, list[Stretch]]] = {member: {} for member in members}
        for stay in tables.group_memberships(session.transaction, tenant, members):
            stays[stay.member].setdefault(stay.group, []).append(Stretch(stay.since, stay.until))
        on_project, on_tenant = (
            _by_subject(tables.grants_on(session.transaction, tenant, here, 0))
            for here in (view.resource(project), tenant)
        )
        return cls(on_project, on_tenant, stays, view.everyone, ctx.at)

    def since(self, member: int, side: Side) -> Moment:
        """Since when the member is on the side on which they are now."""
        joined = self._held(self.on_project, ROLES, member, [])
        technical = self._held(self.on_project, _TECHNICAL, member, joined)
        match side:
            case Side.TECHNICAL:
                return self._begun(technical, [])
            case Side.BUSINESS:
                return self._begun(joined, technical)
            case Side.ABOVE:
                return self._begun(self._held(self.on_tenant, _OF_TENANT, member, [_ALWAYS]), joined)

    def _held(
        self, given: Mapping[int, list[GrantPeriod]], wanted: Collection[str], member: int, to_all: list[Stretch]
    ) -> list[Stretch]:
        """When one of these roles was held: by themself, by a group, or by All for as long as that means them."""
        mine = {member: [_ALWAYS], **self.stays[member], self.everyone: to_all}
        return _merged(
            both
            for subject, stretches in mine.items()
            for span in given.get(subject, ())
            if span.role in wanted
            for both in _common(stretches, Stretch(span.since, span.until))
        )

    def _begun(self, here: list[Stretch], higher: list[Stretch]) -> Moment:
        """When the stretch of this moment began, or what was higher ended. If there is none: now."""
        began = next((each.since for each in here if each.since <= self.at < each.until), self.at)
        return max([began, *(each.until for each in higher if each.until <= self.at)])


def _by_subject(given: Iterable[GrantPeriod]) -> dict[int, list[GrantPeriod]]:
    found: dict[int, list[GrantPeriod]] = {}
    for span in given:
        found.setdefault(span.subject, []).append(span)
    return found


def _common(some: Iterable[Stretch], other: Stretch) -> list[Stretch]:
    both = (Stretch(max(each.since, other.since), min(each.until, other.until)) for each in some)
    return [each for each in both if each.since < each.until]


def _merged(some: Iterable[Stretch]) -> list[Stretch]:
    """Without gaps between those that touch: who gets a higher role at the moment the lower one ends never left."""
    found: list[Stretch] = []
    for each in sorted(some):
        if found and each.since <= found[-1].until:
            found[-1] = Stretch(found[-1].since, max(found[-1].until, each.until))
        else:
            found.append(each)
    return found
