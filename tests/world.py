"""Facts in memory for tests of a model, without a database or a clock."""

from __future__ import annotations

from collections.abc import Sequence

from lakehold.access.decisions.evaluator import DecisionEvaluator
from lakehold.access.facts.changes import resolve_change
from lakehold.access.facts.records import Add, Attribute, Change, Edge, Fact, Grant, Remove
from lakehold.access.facts.view import ALL_MEMBERS, FactView, ResourceRow
from lakehold.access.model.policy import GROUP, MEMBER, MEMBER_OF, TENANT, Policy
from lakehold.workspaces import policy as shipped_policy

ALL = "all"


class World:
    """A tenant called `acme` with the group All, and whatever a test adds."""

    def __init__(self, policy: Policy | None = None) -> None:
        self.view = FactView(policy or shipped_policy())
        self._count = 0
        self.tenant = self.add("tenant.tenant", "acme")
        self.add(ALL_MEMBERS, ALL, tenant="acme")

    @property
    def decisions(self) -> DecisionEvaluator:
        """Every decision over the facts as they are now."""
        return DecisionEvaluator(self.view)

    def add(self, kind: str, uid: str, **edges: str | Sequence[str]) -> str:
        """A resource with its edges: world.add("lakehouse.table", "orders", layer="bronze")."""
        self.view.policy.kind(kind)
        self._count += 1
        self.view.open(ResourceRow(self._count, uid, kind, uid))
        self.view.touch()
        for edge, targets in edges.items():
            for target in [targets] if isinstance(targets, str) else targets:
                self.fact(Edge(edge, uid, target))
        return uid

    def member(self, uid: str, *groups: str) -> str:
        """A member of the tenant, in these groups."""
        self.add(MEMBER, uid, tenant="acme")
        for group in groups:
            self.fact(Edge(MEMBER_OF, uid, group))
        return uid

    def group(self, uid: str, *members: str) -> str:
        """A group with these members."""
        self.add(GROUP, uid, tenant="acme")
        for member in members:
            self.fact(Edge(MEMBER_OF, member, uid))
        return uid

    def grant(self, subject: str, role: str, resource: str) -> None:
        """The subject holds the role from now on."""
        self.fact(Grant(subject, role, resource))

    def revoke(self, subject: str, role: str, resource: str) -> None:
        """The subject holds the role no longer."""
        self.change(Remove(Grant(subject, role, resource)))

    def set(self, resource: str, member: str | None = None, **attributes: str | bool) -> None:
        """Attributes of a resource, or of a member's membership in it."""
        for name, value in attributes.items():
            kept = str(value).lower() if isinstance(value, bool) else value
            self.fact(Attribute(resource, name, kept, member))

    def fact(self, fact: Fact) -> None:
        """The fact holds from now on."""
        self.change(Add(fact))

    def change(self, change: Change) -> None:
        """Make one change."""
        if isinstance(change, Add | Remove):
            for opens, row in resolve_change(self.view, change):
                (self.view.open if opens else self.view.close)(row)
            self.view.touch()

    def check(self, principal: str, action: str, resource: str) -> bool:
        """Whether the principal may do this."""
        return self.decisions.check(principal, action, resource)

    def actions(self, principal: str, resource: str) -> frozenset[str]:
        """All that the principal may do with the resource."""
        return frozenset(self.decisions.actions(principal, resource))


__all__ = ["ALL", "TENANT", "World"]
