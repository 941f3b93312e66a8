"""The explanation of a decision: its paths as a tree, each with the facts that made it hold or that it missed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lakehold.access.decisions.check import compiled_checks, role_holders, role_mask, step_ends
from lakehold.access.facts.descriptions import describe_resource, describe_value, humanize
from lakehold.access.facts.records import Attribute, Edge, Fact, Grant
from lakehold.access.facts.view import FactView, MemberSubject, role_names
from lakehold.access.model import expressions as expr
from lakehold.access.model.policy import MEMBER_OF
from lakehold.access.model.resolver import ResolvedRule

MOST_ENDS = 20
HIDDEN = "others that you may not see"

VisibilityTest = Callable[[int], bool]


@dataclass(frozen=True, slots=True)
class Reason:
    """A part of a path: its condition, whether it held, and by which facts."""

    text: str
    held: bool
    facts: tuple[Fact, ...] = ()
    parts: tuple[Reason, ...] = ()
    together: bool = False
    """Whether all parts are needed, and not any one of them."""

    def all_facts(self) -> Iterator[Fact]:
        """Yield the facts of this part and of all parts in it."""
        yield from self.facts
        for part in self.parts:
            yield from part.all_facts()


@dataclass(frozen=True, slots=True)
class RulePath:
    """One line of the model that could allow the action."""

    rule: str
    place: str
    reason: Reason

    @property
    def held(self) -> bool:
        """Whether this line allows the action."""
        return self.reason.held


class Explainer:
    """Explains decisions over one view. What the viewer may not see is not named."""

    def __init__(self, view: FactView, visible: VisibilityTest) -> None:
        self._view = view
        self._checks = compiled_checks(view.policy)
        self._visible = visible

    def paths(self, subject: MemberSubject, action: str, here: int, *, held_only: bool) -> tuple[RulePath, ...]:
        """Return the lines of the model that mention the action; for an allow those that held."""
        relevant = (
            (rule, expression)
            for rule, expression in self._view.policy.rules[self._view.kind(here)]
            if action in rule.may and (not held_only or self._holds(expression, subject, here))
        )
        return tuple(self._rule_path(each, subject, here, held_only=held_only) for each in relevant)

    def gates(self, subject: MemberSubject, action: str, here: int) -> tuple[RulePath, ...]:
        """Return the conditions that every path of the action must pass."""
        gates = self._view.policy.gates[self._view.kind(here)]
        return tuple(self._rule_path(gate, subject, here, held_only=False) for gate in gates if action in gate[0].may)

    def _rule_path(self, resolved: ResolvedRule, subject: MemberSubject, here: int, *, held_only: bool) -> RulePath:
        rule, expression = resolved
        words = " when ".join(clause.text for clause in (rule.who, rule.when) if clause)
        reason = self.reason(expression, self._view.kind(here), subject, here, held_only=held_only)
        return RulePath(words, str(rule.place), reason)

    def _holds(self, expression: expr.Expression, subject: MemberSubject, here: int) -> bool:
        return self._checks.expression_test(expression)(self._view, subject, here)

    def reason(
        self, expression: expr.Expression, kind: str, subject: MemberSubject, here: int, *, held_only: bool
    ) -> Reason:
        """Return the reason for one expression."""
        match expression:
            case expr.Relation(_, name):
                return self._relation(name, kind, subject, here, held_only)
            case expr.AnyOf():
                return self._any(expression, kind, subject, here, held_only)
            case expr.AllOf(inner):
                parts = tuple(self.reason(part, kind, subject, here, held_only=held_only) for part in inner)
                return Reason("all of", all(part.held for part in parts), (), parts, together=True)
            case expr.HasRole():
                return self._granted(expression, subject, here)
            case expr.IsSelf():
                return Reason(f"is {self._name(here)}", subject.id == here)
            case expr.AttributeIs():
                return self._attribute_is(expression, here)
            case expr.MembershipIs():
                return self._member_is(expression, subject, here)
            case expr.Not(part):
                inner_reason = self.reason(part, kind, subject, here, held_only=False)
                return Reason(f"not: {inner_reason.text}", not inner_reason.held, inner_reason.facts)
            case expr.Some():
                return self._some(expression, subject, here, held_only)
            case expr.Every():
                return self._every(expression, subject, here, held_only)
            case expr.RoleHolder():
                return self._holder(expression, kind, here, held_only)
            case expr.Everyone():
                return Reason("everyone", held=True)

    def _relation(self, name: str, kind: str, subject: MemberSubject, here: int, held_only: bool) -> Reason:  # noqa: FBT001
        inner = self.reason(self._view.policy.relations[kind, name], kind, subject, here, held_only=held_only)
        role = self._view.policy.kinds[kind].schema.roles.get(name)
        text = f"{role.title if role else humanize(name)} on {self._name(here)}"
        if inner.text in {"any of", "all of"} or (inner.facts and not inner.parts):
            return Reason(text, inner.held, inner.facts, inner.parts, inner.together)
        return Reason(text, inner.held, (), (inner,))

    def _any(self, either: expr.AnyOf, kind: str, subject: MemberSubject, here: int, held_only: bool) -> Reason:  # noqa: FBT001
        relevant = [part for part in either.parts if not held_only or self._holds(part, subject, here)]
        parts = tuple(self.reason(part, kind, subject, here, held_only=held_only) for part in relevant)
        return parts[0] if len(parts) == 1 else Reason("any of", any(part.held for part in parts), (), parts)

    def _granted(self, granted: expr.HasRole, subject: MemberSubject, here: int) -> Reason:
        view, mask = self._view, role_mask(granted.roles)
        held_here = view.grants.get(here) or {}
        facts: list[Fact] = []
        for holder in (subject.id,) if granted.person_only else subject.ids:
            for role in role_names(held_here.get(holder, 0) & mask):
                if holder != subject.id:
                    facts.append(Edge(MEMBER_OF, view.uid(subject.id), view.uid(holder)))
                facts.append(Grant(view.uid(holder), role, view.uid(here)))
        to_all = held_here.get(subject.everyone, 0) & mask
        if to_all and not granted.person_only and self._holds(granted, subject, here):
            facts.extend(Grant(view.uid(subject.everyone), role, view.uid(here)) for role in role_names(to_all))
        schema = view.policy.kinds[granted.kind].schema
        titles = " or ".join(role.title for name, role in schema.roles.items() if name in granted.roles)
        return Reason(f"granted {titles} on {self._name(here)}", bool(facts), tuple(facts))

    def _attribute_is(self, condition: expr.AttributeIs, here: int) -> Reason:
        name, value = condition.name, condition.value
        stored = self._view.attributes[name].get(here)
        held = (condition.default if stored is None else stored) == value
        if name in self._view.policy.request_comparisons:
            return Reason(f"the question says: {self._view.policy.request_comparisons[name]}", held)
        facts = (Attribute(self._view.uid(here), name, stored),) if stored is not None else ()
        return Reason(f"{humanize(name)} is {describe_value(value)} for {self._name(here)}", held, facts)

    def _member_is(self, condition: expr.MembershipIs, subject: MemberSubject, here: int) -> Reason:
        stored = (self._view.memberships[condition.name].get(here) or {}).get(subject.id)
        uid = self._view.uid(subject.id)
        facts = (Attribute(self._view.uid(here), condition.name, stored, uid),) if stored is not None else ()
        text = f"{humanize(condition.name)} in {self._name(here)} is {humanize(condition.value)}"
        return Reason(text, (stored or condition.default) == condition.value, facts)

    def _item_ends(
        self, items: tuple[expr.QuantifierItem, ...], subject: MemberSubject, here: int
    ) -> Iterator[tuple[Fact, int]]:
        for item in items:
            where = dict(item.where)
            there = [
                end
                for end in step_ends(item.step)(self._view, here)
                if not where or self._holds(where[self._view.kind(end)], subject, end)
            ]
            step = item.step
            if not there and item.otherwise:
                step = item.otherwise
                there = list(step_ends(step)(self._view, here))
            for end in there:
                source, target = (end, here) if step.back else (here, end)
                yield Edge(step.edge, self._view.uid(source), self._view.uid(target)), end

    def _some(self, some: expr.Some, subject: MemberSubject, here: int, held_only: bool) -> Reason:  # noqa: FBT001
        # Those that hold first: a layer may have thousands of tables, and a few tell why.
        found, then = list(self._item_ends(some.items, subject, here)), dict(some.then)
        yes = [pair for pair in found if self._holds(then[self._view.kind(pair[1])], subject, pair[1])]
        displayed = yes or ([] if held_only else found)
        parts = self._end_reasons(displayed, then, subject, held=bool(yes))
        if len(parts) == 1 and displayed:
            return parts[0]
        nothing = "" if displayed or yes else " (there is none)"
        return Reason(f"any of the {_edge_labels(some.items)} of {self._name(here)}{nothing}", bool(yes), (), parts)

    def _every(self, every: expr.Every, subject: MemberSubject, here: int, held_only: bool) -> Reason:  # noqa: FBT001
        found, then = list(self._item_ends(every.items, subject, here)), dict(every.then)
        no = [pair for pair in found if not self._holds(then[self._view.kind(pair[1])], subject, pair[1])]
        displayed = found if held_only else no or found
        held = bool(found) and not no
        nothing = "" if found else " (there is none)"
        parts = self._end_reasons(displayed, then, subject, held=held)
        text = f"every one of the {_edge_labels(every.items)} of {self._name(here)}{nothing}"
        return Reason(text, held, (), parts, together=True)

    def _end_reasons(
        self, displayed: list[tuple[Fact, int]], then: dict[str, expr.Expression], subject: MemberSubject, *, held: bool
    ) -> tuple[Reason, ...]:
        parts: list[Reason] = []
        hidden = False
        for edge, end in displayed[:MOST_ENDS]:
            if not self._visible(end):
                hidden = True
                continue
            kind = self._view.kind(end)
            inner = self.reason(then[kind], kind, subject, end, held_only=held)
            parts.append(Reason(inner.text, inner.held, (edge, *inner.facts), inner.parts, inner.together))
        if hidden:
            parts.append(Reason(HIDDEN, held))
        return tuple(parts)

    def _holder(self, holder: expr.RoleHolder, kind: str, here: int, held_only: bool) -> Reason:  # noqa: FBT001
        persons, name = role_holders(holder)(self._view, here), ""
        if isinstance(holder.role, expr.HasRole):
            (role,) = holder.role.roles
            name = self._view.policy.kinds[holder.role.kind].schema.roles[role].title.lower()
        if not persons:
            return Reason(f"nobody is {name} there", held=False)
        person = self._view.subject(persons[0])
        inner = self.reason(holder.question, kind, person, here, held_only=held_only)
        who = ", ".join(filter(None, (self._name(person.id), name)))
        return Reason(f"as {who}: {inner.text}", inner.held, (), (inner,))

    def _name(self, number: int) -> str:
        return describe_resource(self._view, self._view.uid(number)) if self._visible(number) else HIDDEN


def _edge_labels(items: tuple[expr.QuantifierItem, ...]) -> str:
    return " or ".join(humanize(item.step.edge) for item in items)
