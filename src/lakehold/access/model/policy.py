"""Models that stand on each other, resolved into one relation for every kind and name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from lakehold.access.model import soundness, syntax
from lakehold.access.model.document import loads
from lakehold.access.model.errors import ModelError, Place, did_you_mean
from lakehold.access.model.expressions import (
    ALWAYS,
    All,
    Any,
    Every,
    Expression,
    Granted,
    Holder,
    Is,
    Item,
    MemberIs,
    Not,
    Relation,
    Some,
    Step,
    both,
    either,
)
from lakehold.access.model.names import CREATE, give, invite, link, put
from lakehold.access.model.schema import Clause, EdgeKind, Kind, Model, Role, Rule
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import shown

Key = tuple[str, str]
ResolvedRule = tuple[Rule, Expression]

_MOST_STEPS = 2_000

TENANT = "tenant.tenant"
MEMBER = "tenant.member"
GROUP = "tenant.group"
MEMBER_OF = "member_of"


@dataclass(frozen=True, slots=True)
class KindPolicy:
    """A kind with the ends of its edges resolved."""

    schema: Kind
    steps: Mapping[str, Step]
    parent: Step | None
    everyone: tuple[Step, ...] | None
    """The way to the resource whose role holders the group All means here; None: everybody in the tenant."""

    @property
    def id(self) -> str:
        """`marts.data_mart`."""
        return self.schema.id


class Policy:
    """Everything that a tenant's models say. Immutable; compiled once for each set of models."""

    def __init__(self, models: Iterable[Model]) -> None:
        self.models: Mapping[str, Model] = _by_name(models)
        self.sources = {model.name: model.source for model in self.models.values()}
        self.kinds: Mapping[str, KindPolicy] = _kinds(self.models)
        resolver = _Resolver(self.models, self.kinds)
        self.relations: Mapping[Key, Expression] = resolver.relations()
        self.rules: Mapping[str, tuple[ResolvedRule, ...]] = resolver.rules()
        """For each kind its `allow` lines: the paths that a decision is the union of."""
        self.gates: Mapping[str, tuple[ResolvedRule, ...]] = resolver.gates()
        soundness.refuse_cycles(self.relations, resolver.clauses, self.kinds)
        soundness.refuse_negated_rights(self.relations, resolver.clauses, self.kinds)
        soundness.refuse_idle_rules(resolver.clauses, self.kinds)

    def kind(self, kind: str) -> KindPolicy:
        """The kind of this id."""
        try:
            return self.kinds[kind]
        except KeyError:
            raise InvalidInputError(f"There is no kind {shown(kind)}.", did_you_mean(kind, self.kinds)) from None

    def relation(self, kind: str, name: str) -> Expression:
        """Who stands in this relation to a resource of this kind."""
        return self.relations[kind, name]

    def action(self, kind: str, action: str) -> Expression:
        """Who may do this."""
        if action not in self.kind(kind).schema.actions:
            actions = self.kinds[kind].schema.actions
            raise InvalidInputError(f"{kind} has no action {shown(action)}.", did_you_mean(action, actions))
        return self.relations[kind, action]

    def role(self, kind: str, role: str) -> Role:
        """The role of this name on this kind."""
        roles = self.kind(kind).schema.roles
        if role not in roles:
            raise InvalidInputError(f"{kind} has no role {shown(role)}.", did_you_mean(role, roles))
        return roles[role]

    def edge(self, kind: str, edge: str) -> EdgeKind:
        """The edge of this name that leads away from this kind."""
        edges = self.kind(kind).schema.edges
        if edge not in edges:
            raise InvalidInputError(f"{kind} has no edge {shown(edge)}.", did_you_mean(edge, edges))
        return edges[edge]

    def everyone(self, kind: str) -> Granted | None:
        """The roles whose holders the group All means on resources of this kind; None: everybody."""
        everyone = self.kinds[kind].everyone
        if everyone is None:
            return None
        root = everyone[-1].kinds[0] if everyone else kind
        return Granted(root, frozenset(self.kinds[root].schema.roles))

    @cached_property
    def handing_out(self) -> frozenset[Key]:
        """The actions that make grants or invites: no narrowed token does these."""
        found: set[Key] = set()
        for kind in self.kinds.values():
            for role in kind.schema.roles.values():
                if role.given_with:
                    found |= _ends(self.relations[kind.id, give(role.name)])
                if role.invited_with:
                    found.add((kind.id, role.invited_with))
        # Making somebody a member, or one of a group, hands out what members and the group have.
        for name in (CREATE, link(MEMBER_OF)):
            if (MEMBER, name) in self.relations:
                found |= _ends(self.relations[MEMBER, name])
        return frozenset(found)


@lru_cache(maxsize=32)
def policy_of(sources: tuple[tuple[str, str], ...]) -> Policy:
    """The policy of these models, given by name and text, compiled once for the same ones."""
    return Policy(loads(source, f"{name}/model.yaml") for name, source in sources)


def _ends(expression: Expression) -> set[Key]:
    match expression:
        case Relation(kind, name):
            return {(kind, name)}
        case Some(_, then):
            return set().union(*(_ends(part) for _, part in then))
        case All(inner) | Any(inner):
            return set().union(*map(_ends, inner))
        case _:
            return set()


def _by_name(models: Iterable[Model]) -> dict[str, Model]:
    named: dict[str, Model] = {}
    for model in models:
        if model.name in named:
            raise ModelError(model.place, f"there are two models called {model.name!r}.", "Rename one of them.")
        named[model.name] = model
    for model in named.values():
        for base in model.extends:
            if base not in named:
                raise ModelError(base.place, f"it extends {base!r}, which is not there.", did_you_mean(base, named))
    return named


def _find(models: Mapping[str, Model], model: Model, kind: str, place: Place) -> str:
    for name in (model.name, *model.extends):
        if kind in models[name].kinds:
            return f"{name}.{kind}"
    known = {kind for name in (model.name, *model.extends) for kind in models[name].kinds}
    other = next((name for name in models if kind in models[name].kinds), None)
    hint = f"It is a kind of {other!r}: add that to `extends:`." if other else did_you_mean(kind, known)
    raise ModelError(place, f"no kind {kind!r}.", hint)


def _kinds(models: Mapping[str, Model]) -> dict[str, KindPolicy]:
    steps: dict[str, dict[str, Step]] = {}
    for model in models.values():
        for kind in model.kinds.values():
            steps[kind.id] = {
                edge.name: Step(edge.name, False, tuple(_find(models, model, to, to.place) for to in edge.to))
                for edge in kind.edges.values()
            }
    for model in models.values():
        for kind in model.kinds.values():
            _add_back_steps(kind, steps)
    kinds: dict[str, KindPolicy] = {}
    for model in models.values():
        for kind in model.kinds.values():
            parent = steps[kind.id][kind.parent] if kind.parent else None
            kinds[kind.id] = KindPolicy(kind, steps[kind.id], parent, _everyone(model, kind, steps))
    return kinds


def _add_back_steps(kind: Kind, steps: dict[str, dict[str, Step]]) -> None:
    for edge in kind.edges.values():
        if edge.back is None:
            continue
        for target in steps[kind.id][edge.name].kinds:
            there = steps[target].get(edge.back)
            if there is None:
                steps[target][edge.back] = Step(edge.name, True, (kind.id,))
            elif there.back and there.edge == edge.name:
                steps[target][edge.back] = Step(edge.name, True, (*there.kinds, kind.id))
            else:
                raise ModelError(edge.place, f"{target} already has an edge {edge.back!r}.", "Choose another name.")


def _everyone(model: Model, kind: Kind, steps: Mapping[str, Mapping[str, Step]]) -> tuple[Step, ...] | None:
    if model.everyone is None:
        return None
    way: list[Step] = []
    here = kind
    while here.name != model.everyone:
        step = steps[here.id][here.parent] if here.parent else None
        if step is None or len(step.kinds) != 1 or step.kinds[0].split(".")[0] != model.name or len(way) > len(steps):
            raise ModelError(
                kind.place,
                f"{kind.name!r} does not lie in a {model.everyone!r}, whose members the group All means.",
                "Give it an `in:` that leads there.",
            )
        way.append(step)
        here = model.kinds[step.kinds[0].split(".")[1]]
    return tuple(way)


class _Resolver:
    def __init__(self, models: Mapping[str, Model], kinds: Mapping[str, KindPolicy]) -> None:
        self._models = models
        self._kinds = kinds
        self.clauses: dict[tuple[str, Clause], Expression] = {}
        self._steps: Counter[Place] = Counter()

    def relations(self) -> dict[Key, Expression]:
        found: dict[Key, Expression] = {}
        for kind in self._kinds.values():
            for name, expression in self._of_kind(kind):
                found[kind.id, name] = expression
        return found

    def rules(self) -> dict[str, tuple[ResolvedRule, ...]]:
        return {
            kind.id: tuple((rule, self._rule(kind, rule)) for rule in kind.schema.allow)
            for kind in self._kinds.values()
        }

    def gates(self) -> dict[str, tuple[ResolvedRule, ...]]:
        return {
            kind.id: tuple((gate, self._rule(kind, gate)) for gate in kind.schema.gates)
            for kind in self._kinds.values()
        }

    def _of_kind(self, kind: KindPolicy) -> Iterable[tuple[str, Expression]]:
        schema = kind.schema
        for role in schema.roles.values():
            yield role.name, self._role(kind, role)
            yield from self._optional(kind, give(role.name), role.given_with)
            if role.invited_with:
                yield invite(role.name), self._terminal(kind, role.invited_with, None, role.place)
        for name, clause in schema.define.items():
            yield name, self._clause(kind, clause)
        for action in schema.actions:
            yield action, self._action(kind, action)
        yield from self._optional(kind, CREATE, schema.create)
        for attribute in (*schema.attributes.values(), *schema.membership.values()):
            for value, clause in attribute.set_with.items():
                yield put(attribute.name, value), self._clause(kind, clause)
        for edge in schema.edges.values():
            yield from self._optional(kind, link(edge.name), edge.set_with)
            if edge.needs:
                for target in kind.steps[edge.name].kinds:
                    soundness.refuse_unknown_need(edge.needs, self._kinds[target].schema)

    def _optional(self, kind: KindPolicy, name: str, clause: Clause | None) -> Iterable[tuple[str, Expression]]:
        if clause:
            yield name, self._clause(kind, clause)

    # Rules

    def _role(self, kind: KindPolicy, role: Role) -> Expression:
        roles = kind.schema.roles
        above = [other for other in roles.values() if role.name in soundness.implied_roles(roles, other)]
        plain = frozenset(other.name for other in above if other.when is None)
        gated = [
            both(Granted(kind.id, frozenset({other.name}), other.person_only), self._clause(kind, other.when))
            for other in above
            if other.when is not None
        ]
        person_only = all(roles[name].person_only for name in plain)
        direct = Granted(kind.id, plain, person_only) if plain else None
        derived = [self._clause(kind, other.derived) for other in above if other.derived]
        return either(direct, *gated, *self._weakest(derived))

    def _weakest(self, derived: list[Expression]) -> list[Expression]:
        """Leave out what another part says already: `layer.manager` beside `layer.viewer`."""
        return [
            part
            for part in derived
            if not any(part != other and soundness.implies(part, other, self._kinds) for other in derived)
        ]

    def _action(self, kind: KindPolicy, action: str) -> Expression:
        rules = [self._rule(kind, rule) for rule in kind.schema.allow if action in rule.may]
        gates = [self._rule(kind, gate) for gate in kind.schema.gates if action in gate.may]
        return both(either(*rules), *gates)

    def _rule(self, kind: KindPolicy, rule: Rule) -> Expression:
        return both(*(self._clause(kind, clause) for clause in (rule.who, rule.when) if clause))

    # Expressions

    def _clause(self, kind: KindPolicy, clause: Clause | None) -> Expression:
        if clause is None:
            return ALWAYS
        if (kind.id, clause) not in self.clauses:
            self.clauses[kind.id, clause] = self._tree(kind, clause.tree, clause.place)
        return self.clauses[kind.id, clause]

    def _tree(self, kind: KindPolicy, tree: syntax.Tree, place: Place) -> Expression:
        match tree:
            case syntax.Path(names, equals):
                return self._path(kind, names, equals, place)
            case syntax.Both(trees):
                return both(*(self._tree(kind, part, place) for part in trees))
            case syntax.Either(trees):
                return either(*(self._tree(kind, part, place) for part in trees))
            case syntax.Not(part):
                return Not(self._tree(kind, part, place))
            case syntax.Quantified():
                return self._quantified(kind, tree, place)
            case syntax.AsHolder(holder, question):
                return self._holder(kind, holder.names, self._tree(kind, question, place), place)

    def _path(self, kind: KindPolicy, names: tuple[str, ...], equals: str | None, place: Place) -> Expression:
        if len(names) == 1:
            return self._terminal(kind, names[0], equals, place)
        step = self._step(kind, names[0], place)
        if step.back or kind.schema.edges[names[0]].many:
            raise ModelError(
                place,
                f"{names[0]!r} may lead from a {kind.schema.name} to many.",
                f"Say any({names[0]}).{names[1]} or every({names[0]}).{names[1]}.",
            )
        return Some((Item(step),), self._at_ends((step,), names[1:], equals, place))

    def _at_ends(
        self, steps: Iterable[Step], names: tuple[str, ...], equals: str | None, place: Place
    ) -> tuple[tuple[str, Expression], ...]:
        ends = dict.fromkeys(kind for step in steps for kind in step.kinds)
        return tuple((end, self._path(self._kinds[end], names, equals, place)) for end in ends)

    def _step(self, kind: KindPolicy, name: str, place: Place) -> Step:
        # Edges that lead to several kinds multiply with every step.
        self._steps[place] += 1
        if self._steps[place] > _MOST_STEPS:
            raise ModelError(place, f"this leads to more than {_MOST_STEPS:,} ends.", "Ask it in fewer steps.")
        if name not in kind.steps:
            raise ModelError(place, f"a {kind.schema.name} has no edge {name!r}.", did_you_mean(name, kind.steps))
        return kind.steps[name]

    def _terminal(self, kind: KindPolicy, name: str, equals: str | None, place: Place) -> Expression:
        schema = kind.schema
        for attributes, what in ((schema.attributes, Is), (schema.membership, MemberIs)):
            if name in attributes:
                attribute = attributes[name]
                if equals is None and not attribute.is_flag:
                    raise ModelError(place, f"{name!r} is not on or off.", f"Say {name} = {attribute.values[0]}.")
                if equals is not None and equals not in attribute.values:
                    hint = did_you_mean(equals, attribute.values)
                    raise ModelError(place, f"{equals!r} is no value of {name!r}.", hint)
                return what(name, equals or "true", attribute.default)
        known = {"everyone", *schema.roles, *schema.define, *schema.actions}
        if equals is not None or name not in known:
            if equals is not None and name in known:
                raise ModelError(place, f"{name!r} has no values: it is no attribute.", f"Say {name} alone.")
            hint = did_you_mean(name, known | {*schema.attributes, *schema.membership})
            if name in kind.steps:
                hint = f"{name!r} is an edge: say what is asked at its end, as in {name}.see, or any({name})."
            raise ModelError(place, f"a {schema.name} has no role, action, definition or attribute {name!r}.", hint)
        return ALWAYS if name == "everyone" else Relation(kind.id, name)

    def _quantified(self, kind: KindPolicy, tree: syntax.Quantified, place: Place) -> Expression:
        items = tuple(self._item(kind, item, place) for item in tree.items)
        steps = [step for item in items for step in (item.step, item.otherwise) if step]
        if tree.then is None:
            ends = dict.fromkeys(end for step in steps for end in step.kinds)
            there = Some(items, tuple((end, ALWAYS) for end in ends))
            return Not(there) if tree.word == "no" else there
        then = self._at_ends(steps, tree.then.names, tree.then.equals, place)
        return Every(items, then) if tree.word == "every" else Some(items, then)

    def _item(self, kind: KindPolicy, item: syntax.Item, place: Place) -> Item:
        step = self._step(kind, item.edge, place)
        otherwise = self._step(kind, item.otherwise, place) if item.otherwise else None
        if item.where is None:
            return Item(step, (), otherwise)
        where = tuple((end, self._tree(self._kinds[end], item.where, place)) for end in step.kinds)
        return Item(step, where, otherwise)

    def _holder(self, kind: KindPolicy, names: tuple[str, ...], question: Expression, place: Place) -> Expression:
        steps: list[Step] = []
        here = kind
        for name in names[:-1]:
            step = self._step(here, name, place)
            if step.back or here.schema.edges[name].many or len(step.kinds) != 1:
                raise ModelError(place, f"`as` needs one resource, and {name!r} may lead to many.")
            steps.append(step)
            here = self._kinds[step.kinds[0]]
        role = here.schema.roles.get(names[-1])
        if role is None:
            raise ModelError(
                place, f"a {here.schema.name} has no role {names[-1]!r}.", did_you_mean(names[-1], here.schema.roles)
            )
        if not (role.single and role.person_only):
            raise ModelError(
                place, "`as` needs a role of one person.", f"Declare {names[-1]} with to: person, single: true."
            )
        return Holder(tuple(steps), Granted(here.id, frozenset({role.name}), person_only=True), question)
