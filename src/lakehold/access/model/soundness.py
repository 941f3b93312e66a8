"""What is refused although it can be read: it would never end, never hold, add nothing, or take a right away."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from lakehold.access.model.errors import ModelError, Place, Word, did_you_mean
from lakehold.access.model.expressions import (
    ALWAYS,
    All,
    Any,
    Every,
    Everyone,
    Expression,
    Is,
    MemberIs,
    Not,
    Relation,
    Some,
    both,
    parts,
)
from lakehold.access.model.schema import Clause, Kind, Role, Rule

if TYPE_CHECKING:
    from lakehold.access.model.policy import Key, KindPolicy

Clauses = Mapping[tuple[str, Clause], Expression]
"""What each expression in the files means, for the kind that it is written for."""

_DEEPEST = 100
_MOST_WAYS = 64


def references(expression: Expression) -> Iterator[Key]:
    """The relations that this expression asks for, here or elsewhere."""
    if isinstance(expression, Relation):
        yield expression.kind, expression.name
    for part in parts(expression):
        yield from references(part)


def refuse_cycles(relations: Mapping[Key, Expression], clauses: Clauses, kinds: Mapping[str, KindPolicy]) -> None:
    """No relation may ask for itself, not even by way of others, and none may stand on a long row of others."""
    depths: dict[Key, int] = {}

    def depth(expression: Expression) -> int:
        if isinstance(expression, Relation):
            return 1 + depths[expression.kind, expression.name]
        return 1 + max(map(depth, parts(expression)), default=0)

    def visit(here: Key, way: tuple[Key, ...]) -> None:
        if here in way:
            circle = [*way[way.index(here) :], here]
            shown = " → ".join(f"{kind}.{name}" for kind, name in circle)
            place = _asking(circle[0], circle[1], clauses, kinds)
            raise ModelError(place, f"a cyclic definition: {shown}.", "Break the circle at one place.")
        if here in depths:
            return
        further = list(references(relations[here]))
        if further and len(way) == _DEEPEST:
            raise _too_deep(way[0], way[1], clauses, kinds)
        for following in further:
            visit(following, (*way, here))
        depths[here] = depth(relations[here])
        if depths[here] > _DEEPEST:
            raise _too_deep(here, further[0], clauses, kinds)

    for start in relations:
        visit(start, ())


def _too_deep(here: Key, further: Key, clauses: Clauses, kinds: Mapping[str, KindPolicy]) -> ModelError:
    # Whatever walks over a policy does so by recursion, and must not run out of stack.
    return ModelError(
        _asking(here, further, clauses, kinds),
        f"{'.'.join(here)} stands on others that stand on others, more than {_DEEPEST} deep.",
        "Say it with fewer definitions between.",
    )


def _asking(here: Key, further: Key, clauses: Clauses, kinds: Mapping[str, KindPolicy]) -> Place:
    """Where the one relation asks for the other."""
    schema = kinds[here[0]].schema
    for clause in _clauses(schema, here[1]):
        if further in references(clauses[schema.id, clause]):
            return clause.place
    return schema.place


def _clauses(schema: Kind, name: str) -> Iterator[Clause]:
    """The expressions that a relation of this kind is made of."""
    if name in schema.define:
        yield schema.define[name]
    if name in schema.roles:
        # A role holds by way of those that imply it, too.
        for role in schema.roles.values():
            yield from filter(None, (role.derived, role.when))
    for rule in (*schema.allow, *schema.gates):
        if name in rule.may:
            yield from filter(None, (rule.who, rule.when))


def refuse_negated_rights(
    relations: Mapping[Key, Expression], clauses: Clauses, kinds: Mapping[str, KindPolicy]
) -> None:
    """`not` and `where` go with conditions: a model only ever allows, so no right can take another away.

    Only for relations without cycles.
    """
    known: dict[Key, bool] = {}

    def is_condition(expression: Expression) -> bool:
        match expression:
            case Is() | MemberIs() | Everyone():
                return True
            case Relation(kind, name):
                if (kind, name) not in known:
                    # A role or action is a right even while everybody has it, or nobody.
                    is_right = name not in kinds[kind].schema.define
                    known[kind, name] = not is_right and is_condition(relations[kind, name])
                return known[kind, name]
            case All() | Any() | Not() | Some() | Every():
                return all(is_condition(part) for part in parts(expression))
            case _:
                return False

    def look(expression: Expression, place: Place) -> None:
        wheres: list[Expression] = []
        if isinstance(expression, Some | Every):
            wheres = [part for item in expression.items for _, part in item.where]
        if isinstance(expression, Not):
            wheres = [expression.part]
        if not all(is_condition(part) for part in wheres):
            raise ModelError(
                place,
                "`not`, `no` and `where` go with attributes and edges, not with what a person may do.",
                "Models only allow; say who may instead.",
            )
        for part in parts(expression):
            look(part, place)

    for (_, clause), expression in clauses.items():
        look(expression, clause.place)


def refuse_what_is_no_action(clause: Clause, asked: Expression, kinds: Mapping[str, KindPolicy]) -> None:
    """What a resource is edited or deleted with is an action, so that it can be asked for by its name."""
    for kind, name in [*references(asked)] or [("", "")]:
        actions = kinds[kind].schema.actions if kind else ()
        if name not in actions:
            message = f"{clause.text!r} names no action."
            raise ModelError(clause.place, message, did_you_mean(clause.text.rpartition(".")[2], actions))


def refuse_unknown_need(needs: Word, there: Kind) -> None:
    """What an edge needs at its other end is a relation of the kind there."""
    known = {*there.roles, *there.define, *there.actions}
    if needs not in known:
        message = f"needs: a {there.name} has no role, action or definition {needs!r}."
        raise ModelError(needs.place, message, did_you_mean(needs, known))


def implied_roles(roles: Mapping[str, Role], role: Role) -> set[str]:
    """The role and everything that it implies."""
    found = {role.name}
    here = role
    while here.implies is not None:
        if here.implies in found:
            message = f"a cyclic definition: {str(here.implies)!r} implies itself."
            raise ModelError(here.implies.place, message, "Break the circle.")
        here = roles[here.implies]
        found.add(here.name)
    return found


def implies(one: Expression, other: Expression, kinds: Mapping[str, KindPolicy]) -> bool:
    """Whether the second surely holds wherever the first does. No means: not seen at a glance."""
    if other in {one, ALWAYS}:
        return True
    match one, other:
        case Relation(kind, name), Relation(other_kind, other_name):
            roles = kinds[kind].schema.roles
            return kind == other_kind and name in roles and other_name in implied_roles(roles, roles[name])
        case (Some(items, then), Some(other_items, other_then)) | (Every(items, then), Every(other_items, other_then)):
            return (
                items == other_items
                and len(then) == len(other_then)
                and all(implies(a, b, kinds) for (_, a), (_, b) in zip(then, other_then, strict=True))
            )
        case _:
            return False


Way = tuple[Expression, ...]


def _ways(expression: Expression) -> list[Way]:
    """The expression as alternatives of things that hold together, as far as it is written that way."""
    found: list[Way] = [(expression,)]
    if isinstance(expression, Any):
        found = [way for part in expression.parts for way in _ways(part)]
    if isinstance(expression, All):
        choices = [_ways(part) for part in expression.parts]
        if math.prod(map(len, choices)) <= _MOST_WAYS:
            found = [tuple(itertools.chain(*ways)) for ways in itertools.product(*choices)]
    # With too many to look at, it stays one thing that nothing is known about.
    return found if len(found) <= _MOST_WAYS else [(expression,)]


def _contradicts(way: Way) -> bool:
    values: dict[tuple[type, str], str] = {}
    for part in way:
        if Not(part) in way:
            return True
        if isinstance(part, Is | MemberIs) and values.setdefault((type(part), part.name), part.value) != part.value:
            return True
    return False


class _Line(NamedTuple):
    """A rule or gate with what it asks."""

    rule: Rule
    expression: Expression
    ways: list[Way]


def refuse_idle_rules(clauses: Clauses, kinds: Mapping[str, KindPolicy]) -> None:
    """Refuse a rule that is written twice, can never hold, or says only what others say already."""
    for kind in kinds.values():
        gates = [_line(rule, kind.id, clauses) for rule in kind.schema.gates]
        rules = [_line(rule, kind.id, clauses) for rule in kind.schema.allow]
        _refuse_idle_gates(gates, kinds)
        for number, line in reversed([*enumerate(rules)]):
            _refuse_gated_off(line, gates)
            _refuse_covered(line, [*rules[:number], *rules[number + 1 :]], kinds)


def _line(rule: Rule, kind: str, clauses: Clauses) -> _Line:
    expression = both(*(clauses[kind, clause] for clause in (rule.who, rule.when) if clause))
    ways = [way for way in _ways(expression) if not _contradicts(way)]
    if not ways:
        raise ModelError(rule.place, "an unreachable rule: its conditions exclude each other.", "Remove it.")
    return _Line(rule, expression, ways)


def _refuse_idle_gates(gates: Sequence[_Line], kinds: Mapping[str, KindPolicy]) -> None:
    for gate, other in itertools.permutations(reversed(gates), 2):
        if set(gate.rule.may) <= set(other.rule.may) and _covers(gate.ways, other.ways, kinds):
            line = other.rule.place.line
            raise ModelError(gate.rule.place, f"a duplicate rule: line {line} already asks all of it.", "Remove it.")


def _refuse_gated_off(line: _Line, gates: Sequence[_Line]) -> None:
    for action in line.rule.may:
        asked = [gate.expression for gate in gates if action in gate.rule.may]
        if not all(map(_contradicts, _ways(both(line.expression, *asked)))):
            return
    raise ModelError(line.rule.place, "an unreachable rule: the gates never let it through.", "Remove it.")


def _refuse_covered(line: _Line, others: Sequence[_Line], kinds: Mapping[str, KindPolicy]) -> None:
    """Each way of a rule may be covered by another rule, and each action by a further one."""
    covering: dict[int, _Line] = {}
    for way in line.ways:
        left = set(line.rule.may)
        for other in others:
            if not left.isdisjoint(other.rule.may) and _covers(other.ways, [way], kinds):
                left -= set(other.rule.may)
                covering[other.rule.place.line] = other
        if left:
            return
    raise _idle(line, list(covering.values()), kinds)


def _idle(line: _Line, covering: list[_Line], kinds: Mapping[str, KindPolicy]) -> ModelError:
    first = covering[0]
    same = set(line.rule.may) == set(first.rule.may) and _covers(line.ways, first.ways, kinds)
    what = "a duplicate rule" if same and len(covering) == 1 else "an unreachable rule"
    lines = " and ".join(str(other.rule.place.line) for other in covering)
    allow = f"line {lines} already allows" if len(covering) == 1 else f"lines {lines} already allow"
    return ModelError(line.rule.place, f"{what}: {allow} all of it.", "Remove it.")


def _covers(wide: list[Way], narrow: list[Way], kinds: Mapping[str, KindPolicy]) -> bool:
    return all(any(_weaker(way, other, kinds) for way in wide) for other in narrow)


def _weaker(way: Way, other: Way, kinds: Mapping[str, KindPolicy]) -> bool:
    return all(any(implies(have, part, kinds) for have in other) for part in way)
