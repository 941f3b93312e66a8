"""Groups: they hold roles like a member does, and those who are in one have them. The group All is built in."""

from __future__ import annotations

from dataclasses import dataclass

from lakehold.access import Add, Edge, Remove
from lakehold.access.facts.view import ALL_MEMBERS, View
from lakehold.access.model.policy import GROUP, MEMBER_OF
from lakehold.access.query.listing import Page
from lakehold.directory import roles
from lakehold.directory.work import Work
from lakehold.kit.clock import Moment
from lakehold.kit.errors import ForbiddenError, InvalidInputError
from lakehold.kit.ids import shown


@dataclass(frozen=True, slots=True)
class Group:
    """One group."""

    uid: str
    name: str
    built_in: bool
    """All, which is whoever is there."""
    members: tuple[str, ...]
    """The ids of those who are in it, by name. Empty for All, which has no list."""
    roles: tuple[str, ...]
    """The roles that it holds on the tenant."""


def page(work: Work, *, search: str = "", sort: str = "name", after: str | None = None, limit: int = 50) -> Page:
    """One page of the groups that people made."""
    return work.session.list(work.asker, "see", GROUP, search=search, sort=sort, after=after, limit=limit)


def one(work: Work, group: str) -> Group:
    """One group with its members."""
    _refuse_others(work, group)
    work.need("see", group)
    members, name, built_in = work.session.asking(lambda view: _told(view, group))
    visible = tuple(member for member in members if work.session.sees(work.asker, member))
    return Group(group, name, built_in, visible, roles.of(work, group))


def everybody(work: Work) -> str:
    """The id of the group All."""
    return work.session.asking(lambda view: view.uid(view.everyone))


def create(work: Work, name: str, *, uid: str | None = None) -> str:
    """Make a group, with nobody in it."""
    return work.create(GROUP, name, uid=uid, edges={"tenant": work.caller.tenant})


def rename(work: Work, group: str, name: str) -> None:
    """Call it by another name. Its roles and members stay."""
    need_edit(work, group)
    work.renamed(group, name)


def need_edit(work: Work, group: str) -> None:
    """Refuse unless the caller may change the group."""
    _refuse_all(work, group)
    work.need("edit", group)


def delete(work: Work, group: str) -> None:
    """End it. Its members lose what they had by it, and nothing else."""
    _refuse_all(work, group)
    work.delete(group)


def add(work: Work, group: str, member: str, *, until: Moment | None = None) -> None:
    """Take a member in, for good or for a time."""
    _refuse_all(work, group)
    work.make(Add(Edge(MEMBER_OF, member, group)), until=until)


def remove(work: Work, group: str, member: str) -> None:
    """Let a member go."""
    _refuse_all(work, group)
    work.make(Remove(Edge(MEMBER_OF, member, group)))


def _refuse_all(work: Work, group: str) -> None:
    _refuse_others(work, group)
    if work.view.kind(work.view.resource(group)) == ALL_MEMBERS:
        raise ForbiddenError("The group All is built in: it is whoever is there.", "Make a group of your own.")


def _refuse_others(work: Work, group: str) -> None:
    work.see(group)
    if work.view.kind(work.view.resource(group)) not in {GROUP, ALL_MEMBERS}:
        raise InvalidInputError(f"{shown(group)} is no group.", "Look the id up among the groups.")


def _told(view: View, group: str) -> tuple[list[str], str, bool]:
    here = view.resource(group)
    inside = sorted(view.back[MEMBER_OF].get(here) or (), key=lambda number: (view.names.get(number) or "", number))
    return [view.uid(number) for number in inside], view.names.get(here) or "", view.kind(here) == ALL_MEMBERS
