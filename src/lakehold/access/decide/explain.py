"""Why: the paths of a decision as a tree, each with the facts that made it hold or that it missed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lakehold.access.decide.check import Checks, ends, holders, mask_of
from lakehold.access.decide.words import named, spoken
from lakehold.access.facts.records import Attribute, Edge, Fact, Grant
from lakehold.access.facts.view import Subject, View, role_names
from lakehold.access.model.expressions import (
    All,
    Any,
    Every,
    Everyone,
    Expression,
    Granted,
    Holder,
    Is,
    Item,
    MemberIs,
    Not,
    Relation,
    Some,
)
from lakehold.access.model.policy import MEMBER_OF

MOST_ENDS = 20
HIDDEN = "others that you may not see"

Visible = Callable[[int], bool]


@dataclass(frozen=True, slots=True)
class Reason:
    """A part of a path: what was asked, whether it held, and by which facts."""

    text: str
    held: bool
    facts: tuple[Fact, ...] = ()
    parts: tuple[Reason, ...] = ()
    together: bool = False
    """Whether all parts are needed, and not any one of them."""

    def all_facts(self) -> Iterator[Fact]:
        """The facts of this part and of all parts in it."""
        yield from self.facts
        for part in self.parts:
            yield from part.all_facts()


@dataclass(frozen=True, slots=True)
class Path:
    """One line of the model that could allow the action."""

    rule: str
    place: str
    reason: Reason

    @property
    def held(self) -> bool:
        """Whether this line allows it."""
        return self.reason.held


class Explainer:
    """Explains decisions of one view. What the viewer may not see is not named."""

    def __init__(self, view: View, checks: Checks, visible: Visible) -> None:
        self._view = view
        self._checks = checks
        self._visible = visible

    def paths(self, subject: Subject, action: str, here: int, *, held_only: bool) -> tuple[Path, ...]:
        """The lines that speak of the action; for an allow those that held."""
        kind = self._view.kind(here)
        found: list[Path] = []
        for rule, expression in self._view.policy.rules[kind]:
            if action in rule.may and (not held_only or self._holds(expression, subject, here)):
                words = " when ".join(clause.text for clause in (rule.who, rule.when) if clause)
                reason = self.reason(expression, kind, subject, here, held_only=held_only)
                found.append(Path(words, str(rule.place), reason))
        return tuple(found)

    def gates(self, subject: Subject, action: str, here: int) -> tuple[Path, ...]:
        """The conditions that every path of the action must pass."""
        kind = self._view.kind(here)
        found: list[Path] = []
        for rule, expression in self._view.policy.gates[kind]:
            if action in rule.may:
                reason = self.reason(expression, kind, subject, here, held_only=False)
                found.append(Path(rule.when.text if rule.when else "", str(rule.place), reason))
        return tuple(found)

    def _holds(self, expression: Expression, subject: Subject, here: int) -> bool:
        return self._checks.of(expression)(self._view, subject, here)

    def reason(self, expression: Expression, kind: str, subject: Subject, here: int, *, held_only: bool) -> Reason:
        """The part of a path that asks this."""
        match expression:
            case Relation(_, name):
                return self._relation(name, kind, subject, here, held_only)
            case Any(inner):
                return self._any(inner, kind, subject, here, held_only)
            case All(inner):
                parts = tuple(self.reason(part, kind, subject, here, held_only=held_only) for part in inner)
                return Reason("all of", all(part.held for part in parts), (), parts, together=True)
            case Granted():
                return self._granted(expression, subject, here)
            case Is(name, value, default):
                return self._is(name, value, self._view.attributes[name].get(here, default) == value, here)
            case MemberIs(name, value, _):
                return self._member_is(expression, subject, here)
            case Not(part):
                inner_reason = self.reason(part, kind, subject, here, held_only=False)
                return Reason(f"not: {inner_reason.text}", not inner_reason.held, inner_reason.facts)
            case Some(items, then):
                return self._some(items, dict(then), subject, here, held_only)
            case Every(items, then):
                return self._every(items, dict(then), subject, here, held_only)
            case Holder():
                return self._holder(expression, kind, here, held_only)
            case Everyone():
                return Reason("everyone", held=True)

    def _relation(self, name: str, kind: str, subject: Subject, here: int, held_only: bool) -> Reason:  # noqa: FBT001
        inner = self.reason(self._view.policy.relations[kind, name], kind, subject, here, held_only=held_only)
        role = self._view.policy.kinds[kind].schema.roles.get(name)
        text = f"{role.title if role else spoken(name)} on {self._name(here)}"
        if inner.text in {"any of", "all of"} or (inner.facts and not inner.parts):
            return Reason(text, inner.held, inner.facts, inner.parts, inner.together)
        return Reason(text, inner.held, (), (inner,))

    def _any(
        self,
        inner: tuple[Expression, ...],
        kind: str,
        subject: Subject,
        here: int,
        held_only: bool,  # noqa: FBT001
    ) -> Reason:
        wanted = [part for part in inner if not held_only or self._holds(part, subject, here)]
        parts = tuple(self.reason(part, kind, subject, here, held_only=held_only) for part in wanted)
        return parts[0] if len(parts) == 1 else Reason("any of", any(part.held for part in parts), (), parts)

    def _granted(self, granted: Granted, subject: Subject, here: int) -> Reason:
        view, mask = self._view, mask_of(granted.roles)
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

    def _is(self, name: str, value: str, held: bool, here: int) -> Reason:  # noqa: FBT001
        if name in self._view.policy.asked:
            return Reason(f"the question says: {self._view.policy.asked[name]}", held)
        told = self._view.attributes[name].get(here)
        facts = (Attribute(self._view.uid(here), name, told),) if told is not None else ()
        is_value = {"true": "on", "false": "off"}.get(value, spoken(value))
        return Reason(f"{spoken(name)} is {is_value} for {self._name(here)}", held, facts)

    def _member_is(self, asked: MemberIs, subject: Subject, here: int) -> Reason:
        told = (self._view.memberships[asked.name].get(here) or {}).get(subject.id)
        uid = self._view.uid(subject.id)
        facts = (Attribute(self._view.uid(here), asked.name, told, uid),) if told is not None else ()
        text = f"{spoken(asked.name)} in {self._name(here)} is {spoken(asked.value)}"
        return Reason(text, (told or asked.default) == asked.value, facts)

    def _ends(self, items: tuple[Item, ...], subject: Subject, here: int) -> Iterator[tuple[Fact, int]]:
        for item in items:
            where = dict(item.where)
            there = [
                end
                for end in ends(item.step)(self._view, here)
                if not where or self._holds(where[self._view.kind(end)], subject, end)
            ]
            step = item.step
            if not there and item.otherwise:
                step = item.otherwise
                there = list(ends(step)(self._view, here))
            for end in there:
                source, target = (end, here) if step.back else (here, end)
                yield Edge(step.edge, self._view.uid(source), self._view.uid(target)), end

    def _some(
        self,
        items: tuple[Item, ...],
        then: dict[str, Expression],
        subject: Subject,
        here: int,
        held_only: bool,  # noqa: FBT001
    ) -> Reason:
        # Those that hold first: a layer may have thousands of tables, and a few tell why.
        found = list(self._ends(items, subject, here))
        yes = [pair for pair in found if self._holds(then[self._view.kind(pair[1])], subject, pair[1])]
        shown = yes or ([] if held_only else found)
        parts = self._at_ends(shown, then, subject, held=bool(yes))
        if len(parts) == 1 and shown:
            return parts[0]
        nothing = "" if shown or yes else " (there is none)"
        return Reason(f"any of the {_edges(items)} of {self._name(here)}{nothing}", bool(yes), (), parts)

    def _every(
        self,
        items: tuple[Item, ...],
        then: dict[str, Expression],
        subject: Subject,
        here: int,
        held_only: bool,  # noqa: FBT001
    ) -> Reason:
        found = list(self._ends(items, subject, here))
        no = [pair for pair in found if not self._holds(then[self._view.kind(pair[1])], subject, pair[1])]
        shown = found if held_only else no or found
        held = bool(found) and not no
        nothing = "" if found else " (there is none)"
        parts = self._at_ends(shown, then, subject, held=held)
        return Reason(
            f"every one of the {_edges(items)} of {self._name(here)}{nothing}", held, (), parts, together=True
        )

    def _at_ends(
        self, shown: list[tuple[Fact, int]], then: dict[str, Expression], subject: Subject, *, held: bool
    ) -> tuple[Reason, ...]:
        parts: list[Reason] = []
        hidden = False
        for edge, end in shown[:MOST_ENDS]:
            if not self._visible(end):
                hidden = True
                continue
            kind = self._view.kind(end)
            inner = self.reason(then[kind], kind, subject, end, held_only=held)
            parts.append(Reason(inner.text, inner.held, (edge, *inner.facts), inner.parts, inner.together))
        if hidden:
            parts.append(Reason(HIDDEN, held))
        return tuple(parts)

    def _holder(self, holder: Holder, kind: str, here: int, held_only: bool) -> Reason:  # noqa: FBT001
        persons = holders(self._view, holder.steps, mask_of(holder.role.roles), here)
        if not persons:
            return Reason(f"nobody is {' or '.join(holder.role.roles)} there", held=False)
        person = self._view.subject(persons[0])
        inner = self.reason(holder.question, kind, person, here, held_only=held_only)
        role = self._view.policy.kinds[holder.role.kind].schema.roles[next(iter(holder.role.roles))]
        return Reason(f"as {self._name(person.id)}, {role.title.lower()}: {inner.text}", inner.held, (), (inner,))

    def _name(self, number: int) -> str:
        return named(self._view, self._view.uid(number)) if self._visible(number) else HIDDEN


def _edges(items: tuple[Item, ...]) -> str:
    return " or ".join(spoken(item.step.edge) for item in items)
