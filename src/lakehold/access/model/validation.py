"""Validates models that can be read: refuses what would never end, never hold, add nothing, or take a right away."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from lakehold.access.model import expressions as expr
from lakehold.access.model.errors import LocatedName, ModelError, SourceLocation, did_you_mean
from lakehold.access.model.schema import Clause, EdgeKind, KindPolicy, KindSchema, PolicyRule, RoleKind

ResolvedClauses = Mapping[tuple[str, Clause], expr.Expression]
"""What each expression in the files means, for the kind that it is written for."""

_DEEPEST = 100
_MOST_ALTERNATIVES = 64


def references(expression: expr.Expression) -> Iterator[expr.RelationKey]:
    """Yield the relations that this expression refers to, here or elsewhere."""
    if isinstance(expression, expr.Relation):
        yield expression.kind, expression.name
    for part in expr.subexpressions(expression):
        yield from references(part)


def refuse_cycles(
    relations: Mapping[expr.RelationKey, expr.Expression], clauses: ResolvedClauses, kinds: Mapping[str, KindPolicy]
) -> None:
    """Refuse a relation that refers to itself, also by way of others, or that depends on a long chain of others."""
    depths: dict[expr.RelationKey, int] = {}

    def depth(expression: expr.Expression) -> int:
        if isinstance(expression, expr.Relation):
            return 1 + depths[expression.kind, expression.name]
        return 1 + max(map(depth, expr.subexpressions(expression)), default=0)

    def visit(here: expr.RelationKey, way: tuple[expr.RelationKey, ...]) -> None:
        if here in way:
            circle = [*way[way.index(here) :], here]
            cycle_text = " → ".join(f"{kind}.{name}" for kind, name in circle)
            place = _reference_location(circle[0], circle[1], clauses, kinds)
            raise ModelError(place, f"a cyclic definition: {cycle_text}.", "Remove one of the references.")
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


def _too_deep(
    here: expr.RelationKey, further: expr.RelationKey, clauses: ResolvedClauses, kinds: Mapping[str, KindPolicy]
) -> ModelError:
    # Whatever walks over a policy does so by recursion, and must not run out of stack.
    return ModelError(
        _reference_location(here, further, clauses, kinds),
        f"{'.'.join(here)} depends on a chain of more than {_DEEPEST} definitions.",
        "Use fewer definitions in between.",
    )


def _reference_location(
    here: expr.RelationKey, further: expr.RelationKey, clauses: ResolvedClauses, kinds: Mapping[str, KindPolicy]
) -> SourceLocation:
    """Return where the one relation refers to the other."""
    schema = kinds[here[0]].schema
    for clause in _clauses(schema, here[1]):
        if further in references(clauses[schema.id, clause]):
            return clause.place
    return schema.place


def _clauses(schema: KindSchema, name: str) -> Iterator[Clause]:
    """Yield the clauses that a relation of this kind consists of."""
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
    relations: Mapping[expr.RelationKey, expr.Expression], clauses: ResolvedClauses, kinds: Mapping[str, KindPolicy]
) -> None:
    """Refuse `not` and `where` around rights: a model only ever allows, so that no right can take another away.

    Only for relations without cycles.
    """
    known: dict[expr.RelationKey, bool] = {}

    def is_condition(expression: expr.Expression) -> bool:
        match expression:
            case expr.AttributeIs() | expr.MembershipIs() | expr.Everyone() | expr.RoleHolder(_, expr.IsSelf()):
                return True
            case expr.Relation(kind, name):
                if (kind, name) not in known:
                    # A role or action is a right even while everybody has it, or nobody.
                    is_right = name not in kinds[kind].schema.define
                    known[kind, name] = not is_right and is_condition(relations[kind, name])
                return known[kind, name]
            case expr.AllOf() | expr.AnyOf() | expr.Not() | expr.Some() | expr.Every():
                return all(is_condition(part) for part in expr.subexpressions(expression))
            case _:
                return False

    for (_, clause), expression in clauses.items():
        if not all(is_condition(part) for part in _conditions(expression)):
            raise ModelError(
                clause.place,
                "`not`, `no` and `where` go with attributes and edges, not with what a person may do.",
                "Models only allow: state who may instead.",
            )


def _conditions(expression: expr.Expression) -> Iterator[expr.Expression]:
    """Yield what stands behind `not` and `where` in the expression."""
    match expression:
        case expr.Some(items) | expr.Every(items):
            yield from (part for item in items for _, part in item.where)
        case expr.Not(part):
            yield part
    for part in expr.subexpressions(expression):
        yield from _conditions(part)


def refuse_non_action(clause: Clause, asked: expr.Expression, kinds: Mapping[str, KindPolicy]) -> None:
    """Refuse `edited_with` and `deleted_with` that name no action."""
    for kind, name in [*references(asked)] or [("", "")]:
        actions = kinds[kind].schema.actions if kind else ()
        if name not in actions:
            message = f"{clause.text!r} names no action."
            raise ModelError(clause.place, message, did_you_mean(clause.text.rpartition(".")[2], actions))


def refuse_unknown_requirement(needs: LocatedName, there: KindSchema) -> None:
    """Refuse an edge that requires an unknown relation at its other end."""
    known = {*there.roles, *there.define, *there.actions}
    if needs not in known:
        message = f"needs: a {there.name} has no role, action or definition {needs!r}."
        raise ModelError(needs.place, message, did_you_mean(needs, known))


def refuse_other_parents(edge: EdgeKind, kind: KindPolicy, ends: Iterable[KindPolicy]) -> None:
    """Refuse `beside` for kinds that do not lie in the same kind, or that can be moved from one parent to another."""
    for each in (kind, *ends):
        parent = each.schema.parent
        if kind.parent is None or each.parent != kind.parent or (parent and each.schema.edges[parent].set_with):
            message = f"beside: a {each.schema.name} does not stay in one parent of {kind.schema.name}."
            raise ModelError(edge.place, message, "Leave `beside` out.")


def implied_roles(roles: Mapping[str, RoleKind], role: RoleKind) -> set[str]:
    """Return the role and everything that it implies."""
    found = {role.name}
    here = role
    while here.implies is not None:
        if here.implies in found:
            message = f"a cyclic definition: {str(here.implies)!r} implies itself."
            raise ModelError(here.implies.place, message, "Remove one of the references.")
        here = roles[here.implies]
        found.add(here.name)
    return found


def implies(one: expr.Expression, other: expr.Expression, kinds: Mapping[str, KindPolicy]) -> bool:
    """Return whether the second expression surely holds wherever the first does. False means: not known."""
    if other in {one, expr.ALWAYS}:
        return True
    match one, other:
        case expr.Relation(kind, name), expr.Relation(other_kind, other_name):
            roles = kinds[kind].schema.roles
            return kind == other_kind and name in roles and other_name in implied_roles(roles, roles[name])
        case (expr.Some(items, then), expr.Some(other_items, other_then)) | (
            expr.Every(items, then),
            expr.Every(other_items, other_then),
        ):
            return (
                items == other_items
                and len(then) == len(other_then)
                and all(implies(a, b, kinds) for (_, a), (_, b) in zip(then, other_then, strict=True))
            )
        case _:
            return False


Alternative = tuple[expr.Expression, ...]


def _alternatives(expression: expr.Expression) -> list[Alternative]:
    """Return the expression as alternatives of conjunctions, as far as it is written that way."""
    found: list[Alternative] = [(expression,)]
    if isinstance(expression, expr.AnyOf):
        found = [way for part in expression.parts for way in _alternatives(part)]
    if isinstance(expression, expr.AllOf):
        choices = [_alternatives(part) for part in expression.parts]
        if math.prod(map(len, choices)) <= _MOST_ALTERNATIVES:
            found = [tuple(itertools.chain(*ways)) for ways in itertools.product(*choices)]
    # With too many to look at, it stays one thing that nothing is known about.
    return found if len(found) <= _MOST_ALTERNATIVES else [(expression,)]


def _contradicts(way: Alternative) -> bool:
    values: dict[tuple[type, str], str] = {}
    for part in way:
        if expr.Not(part) in way:
            return True
        if (
            isinstance(part, expr.AttributeIs | expr.MembershipIs)
            and values.setdefault((type(part), part.name), part.value) != part.value
        ):
            return True
    return False


class _RuleLine(NamedTuple):
    """A rule or gate with its resolved expression."""

    rule: PolicyRule
    expression: expr.Expression
    ways: list[Alternative]


def refuse_redundant_rules(clauses: ResolvedClauses, kinds: Mapping[str, KindPolicy]) -> None:
    """Refuse a rule that is written twice, can never hold, or allows only what others allow already."""
    for kind in kinds.values():
        gates = [_rule_line(rule, kind.id, clauses) for rule in kind.schema.gates]
        rules = [_rule_line(rule, kind.id, clauses) for rule in kind.schema.allow]
        _refuse_redundant_gates(gates, kinds)
        for number, line in reversed([*enumerate(rules)]):
            _refuse_gated_off(line, gates)
            _refuse_covered(line, [*rules[:number], *rules[number + 1 :]], kinds)


def _rule_line(rule: PolicyRule, kind: str, clauses: ResolvedClauses) -> _RuleLine:
    expression = expr.all_of(*(clauses[kind, clause] for clause in (rule.who, rule.when) if clause))
    ways = [way for way in _alternatives(expression) if not _contradicts(way)]
    if not ways:
        raise ModelError(rule.place, "an unreachable rule: its conditions exclude each other.", "Remove it.")
    return _RuleLine(rule, expression, ways)


def _refuse_redundant_gates(gates: Sequence[_RuleLine], kinds: Mapping[str, KindPolicy]) -> None:
    for gate, other in itertools.permutations(reversed(gates), 2):
        if set(gate.rule.may) <= set(other.rule.may) and _covers(gate.ways, other.ways, kinds):
            line = other.rule.place.line
            raise ModelError(
                gate.rule.place, f"a duplicate rule: line {line} already requires all of it.", "Remove it."
            )


def _refuse_gated_off(line: _RuleLine, gates: Sequence[_RuleLine]) -> None:
    for action in line.rule.may:
        asked = [gate.expression for gate in gates if action in gate.rule.may]
        if not all(map(_contradicts, _alternatives(expr.all_of(line.expression, *asked)))):
            return
    raise ModelError(line.rule.place, "an unreachable rule: the gates never let it through.", "Remove it.")


def _refuse_covered(line: _RuleLine, others: Sequence[_RuleLine], kinds: Mapping[str, KindPolicy]) -> None:
    """Refuse a rule of which each alternative and each action is covered by other rules."""
    covering: dict[int, _RuleLine] = {}
    for way in line.ways:
        left = set(line.rule.may)
        for other in others:
            if not left.isdisjoint(other.rule.may) and _covers(other.ways, [way], kinds):
                left -= set(other.rule.may)
                covering[other.rule.place.line] = other
        if left:
            return
    raise _redundant_rule_error(line, list(covering.values()), kinds)


def _redundant_rule_error(line: _RuleLine, covering: list[_RuleLine], kinds: Mapping[str, KindPolicy]) -> ModelError:
    first = covering[0]
    same = set(line.rule.may) == set(first.rule.may) and _covers(line.ways, first.ways, kinds)
    what = "a duplicate rule" if same and len(covering) == 1 else "an unreachable rule"
    lines = " and ".join(str(other.rule.place.line) for other in covering)
    allow = f"line {lines} already allows" if len(covering) == 1 else f"lines {lines} already allow"
    return ModelError(line.rule.place, f"{what}: {allow} all of it.", "Remove it.")


def _covers(wide: list[Alternative], narrow: list[Alternative], kinds: Mapping[str, KindPolicy]) -> bool:
    return all(any(_is_weaker(way, other, kinds) for way in wide) for other in narrow)


def _is_weaker(way: Alternative, other: Alternative, kinds: Mapping[str, KindPolicy]) -> bool:
    return all(any(implies(have, part, kinds) for have in other) for part in way)
