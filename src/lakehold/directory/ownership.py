"""What a member owns: the roles that a model keeps for a person, on kinds that have an owner from the beginning.

A role on the tenant is no property, and neither is a label such as a context: they end with the member.
"""

from __future__ import annotations

from dataclasses import dataclass

from lakehold.access import Add, Grant
from lakehold.access.facts.view import FactView, role_names
from lakehold.access.model.policy import KindPolicy
from lakehold.directory.request_context import RequestContext


@dataclass(frozen=True, slots=True)
class Owned:
    """A role that makes a member the owner of something."""

    resource: str
    name: str
    kind: str
    role: str
    role_title: str


def of(ctx: RequestContext, member: str) -> list[Owned]:
    """What the member owns, by kind and name."""
    return ctx.session.read_view(lambda view: _owned(view, member))


def hand_over(ctx: RequestContext, owned: Owned, receiver: str) -> None:
    """Let another member hold the role. The caller of this has asked for the right to."""
    ctx.made(Add(Grant(receiver, owned.role, owned.resource)))


def may_hand_over(ctx: RequestContext, owned: Owned, receiver: str) -> bool:
    """Whether the caller may give the role away by the model's own rule."""
    return ctx.session.check_change(ctx.asker, Add(Grant(receiver, owned.role, owned.resource)))


def _owned(view: FactView, member: str) -> list[Owned]:
    number = view.member(member)
    found = [
        Owned(view.uid(place), view.names.get(place) or "", kind.id, role, kind.schema.roles[role].title)
        for place, mask in (view.grants_by_subject.get(number) or {}).items()
        for kind in (view.policy.kind(view.kind(place)),)
        if _has_owners(kind)
        for role in role_names(mask)
        if role in kind.schema.roles and kind.schema.roles[role].person_only
    ]
    return sorted(found, key=lambda owned: (owned.kind, owned.name, owned.resource, owned.role))


def _has_owners(kind: KindPolicy) -> bool:
    creator = kind.schema.creator
    return creator is not None and kind.schema.roles[creator].person_only
