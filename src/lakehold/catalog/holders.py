"""Who may do what with one resource, and by what sort of path: all members at once, as sets.

How a right is held is told by the least that it takes: somebody who would have it without any grant on the resource
has it from above, whatever else was given to them. So to revoke a grant takes a right from those only who hold it
`direct`, or by the `group`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from lakehold.access.decisions.member_sets import Members, bit_positions
from lakehold.access.decisions.what_if import compiled_member_sets
from lakehold.access.facts.layered_maps import LayeredMap, Map, NestedMap
from lakehold.access.facts.view import FactView
from lakehold.access.model.policy import MEMBER
from lakehold.catalog import kinds, sharing
from lakehold.directory.request_context import RequestContext

ROLE, INHERITED, GROUP, DIRECT = "role", "inherited", "group", "direct"
PATHS = (ROLE, INHERITED, GROUP, DIRECT)
"""By a role in the workspace or tenant; by something else that is held elsewhere; by a group's grant on the resource
itself; by an own grant on it."""

Kept = Callable[[int, int], bool]
"""Whether a grant counts, by its resource and its subject."""


@dataclass(frozen=True, slots=True)
class Holders:
    """The sets of one resource, in its model's order of actions."""

    actions: tuple[str, ...]
    _paths: Mapping[str, Mapping[str, Members]]
    """For each action and path those who hold it by this path, or by one before it."""
    _numbers: Mapping[int, int]
    everybody: bool
    """Whether all members were asked about, and not the caller alone."""

    def path(self, action: str, member: int) -> str:
        """By which path the member may do this; empty if they may not."""
        bit = 1 << self._numbers[member]
        return next((path for path in PATHS if self._paths[action][path] & bit), "")

    def members(self, action: str = "", path: str = "") -> Iterator[int]:
        """The members who may do this, or anything, by this path or any."""
        found = 0
        for each in (action,) if action else self.actions:
            found |= self._by(each, path) if path else self._paths[each][DIRECT]
        order = list(self._numbers)
        return (order[number] for number in bit_positions(found))

    def _by(self, action: str, path: str) -> Members:
        """By this path, and none before it."""
        at = PATHS.index(path)
        before = self._paths[action][PATHS[at - 1]] if at else 0
        return self._paths[action][path] & ~before


def of(ctx: RequestContext, uid: str) -> Holders:
    """All members for who gives roles there, or may ask about others; else the caller alone."""
    ctx.see(uid)
    everybody = sharing.may_know_holders(ctx, uid)
    return ctx.session.read_view(lambda view: _holders(view, uid, "" if everybody else ctx.caller.member))


def _holders(view: FactView, uid: str, only: str) -> Holders:
    here = view.resource(uid)
    actions = kinds.schema_of(view, uid).actions
    most = 1 << view.members[view.member(only)] if only else -1
    found: dict[str, dict[str, Members]] = {action: {} for action in actions}
    for path in PATHS:
        for action, members in zip(actions, _sets(view, here, path, actions), strict=True):
            found[action][path] = members & most
    return Holders(actions, found, dict(view.members), everybody=not only)


def _sets(view: FactView, here: int, path: str, actions: tuple[str, ...]) -> list[Members]:
    """Those who may, if only the grants of this path and of those before it are counted. Kept with the view, as what
    is worked out of all facts is: a container can have a hundred thousand things in it.
    """
    kind, sets = view.kind(here), compiled_member_sets(view.policy)
    if path == DIRECT:
        return [sets.relation_set(kind, action)(view, here) for action in actions]
    keys = [("through", path, kind, action, here) for action in actions]
    if any(key not in view.sets for key in keys):
        less = _with_only(view, _kept(view, here, path))
        view.sets.update(zip(keys, [sets.relation_set(kind, action)(less, here) for action in actions], strict=True))
    return [view.sets[key] for key in keys]


def _kept(view: FactView, here: int, path: str) -> Kept:
    match path:
        case "role":
            roots = {"tenant.tenant", *(kind.id for kind in kinds.roots(view.policy))}
            return lambda resource, _: resource != here and view.kind(resource) in roots
        case "inherited":
            return lambda resource, _: resource != here
        case _:
            return lambda resource, subject: resource != here or view.kind(subject) != MEMBER


class _Filtered(LayeredMap[int, dict[int, int]]):
    """Grants, without some of them."""

    __slots__ = ("_kept",)

    def __init__(self, base: Map[int, dict[int, int]], kept: Kept) -> None:
        super().__init__(base)
        self._kept = kept

    def get(self, key: int, default: dict[int, int] | None = None, /) -> dict[int, int] | None:
        held = self._base.get(key)
        if not held:
            return default
        return {subject: roles for subject, roles in held.items() if self._kept(key, subject)} or default


def _with_only(view: FactView, kept: Kept) -> FactView:
    """The same facts with fewer grants."""
    less = FactView(view.policy, view)
    filtered = _Filtered(view.grants.outer, kept)
    less.grants = NestedMap(view.grants)
    less.grants.outer, less.grants.get = filtered, filtered.get
    return less
