"""Resolves the names in the expressions of a model into one relation for every kind and name."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from lakehold.access.model import expressions as expr
from lakehold.access.model import syntax, validation
from lakehold.access.model.errors import ModelError, SourceLocation, did_you_mean
from lakehold.access.model.schema import AccessModel, Clause, KindPolicy, KindSchema, PolicyRule, RoleKind

ResolvedRule = tuple[PolicyRule, expr.Expression]

_MOST_STEPS = 2_000


class Resolver:
    """Resolves the names of one set of models. `true_comparisons` are the conditions on the request that hold."""

    def __init__(
        self,
        models: Mapping[str, AccessModel],
        kinds: Mapping[str, KindPolicy],
        true_comparisons: frozenset[str] = frozenset(),
    ) -> None:
        self._models = models
        self._kinds = kinds
        self._true_comparisons = true_comparisons
        self.clauses: dict[tuple[str, Clause], expr.Expression] = {}
        self.request_comparisons: dict[str, syntax.ComparisonNode] = {}
        self._steps: Counter[SourceLocation] = Counter()

    def relations(self) -> dict[expr.RelationKey, expr.Expression]:
        """Return every relation of every kind."""
        return {
            (kind.id, name): expression
            for kind in self._kinds.values()
            for name, expression in self._kind_relations(kind)
        }

    def resolve_rules(self, rules_of: Callable[[KindSchema], Iterable[PolicyRule]]) -> dict[str, list[ResolvedRule]]:
        """Return the rules or gates of each kind, with their expressions."""
        return {
            kind.id: [(rule, self._rule(kind, rule)) for rule in rules_of(kind.schema)] for kind in self._kinds.values()
        }

    def _kind_relations(self, kind: KindPolicy) -> Iterable[tuple[str, expr.Expression]]:
        schema = kind.schema
        for role in schema.roles.values():
            yield role.name, self._role(kind, role)
            yield from self._optional(kind, expr.give_relation(role.name), role.given_with)
            if role.invited_with:
                yield expr.invite_relation(role.name), self._last_name(kind, role.invited_with, None, role.place)
        for name, clause in schema.define.items():
            yield name, self._clause(kind, clause)
        for action in schema.actions:
            yield action, self._action(kind, action)
        yield from self._optional(kind, expr.CREATE_RELATION, schema.create)
        for name, handled in ((expr.EDIT_RELATION, schema.edited_with), (expr.DELETE_RELATION, schema.deleted_with)):
            if handled is not None:
                asked = self._clause(kind, handled)
                validation.refuse_non_action(handled, asked, self._kinds)
                yield name, asked
        for attribute in (*schema.attributes.values(), *schema.membership.values()):
            for value, clause in attribute.set_with.items():
                yield expr.set_relation(attribute.name, value), self._clause(kind, clause)
        for edge in schema.edges.values():
            yield from self._optional(kind, expr.link_relation(edge.name), edge.set_with)
            if edge.beside:
                validation.refuse_other_parents(edge, kind, [self._kinds[end] for end in kind.steps[edge.name].kinds])
            if edge.needs:
                for target in kind.steps[edge.name].kinds:
                    validation.refuse_unknown_requirement(edge.needs, self._kinds[target].schema)

    def _optional(self, kind: KindPolicy, name: str, clause: Clause | None) -> Iterable[tuple[str, expr.Expression]]:
        if clause:
            yield name, self._clause(kind, clause)

    # Rules

    def _role(self, kind: KindPolicy, role: RoleKind) -> expr.Expression:
        roles = kind.schema.roles
        above = [other for other in roles.values() if role.name in validation.implied_roles(roles, other)]
        plain = frozenset(other.name for other in above if other.when is None)
        gated = [
            expr.all_of(
                expr.HasRole(kind.id, frozenset({other.name}), other.person_only), self._clause(kind, other.when)
            )
            for other in above
            if other.when is not None
        ]
        person_only = all(roles[name].person_only for name in plain)
        direct = expr.HasRole(kind.id, plain, person_only) if plain else None
        derived = [self._clause(kind, other.derived) for other in above if other.derived]
        return expr.any_of(direct, *gated, *self._weakest(derived))

    def _weakest(self, derived: list[expr.Expression]) -> list[expr.Expression]:
        """Leave out what another part implies already: `layer.manager` beside `layer.viewer`."""
        return [
            part
            for part in derived
            if not any(part != other and validation.implies(part, other, self._kinds) for other in derived)
        ]

    def _action(self, kind: KindPolicy, action: str) -> expr.Expression:
        rules = [self._rule(kind, rule) for rule in kind.schema.allow if action in rule.may]
        gates = [self._rule(kind, gate) for gate in kind.schema.gates if action in gate.may]
        return expr.all_of(expr.any_of(*rules), *gates)

    def _rule(self, kind: KindPolicy, rule: PolicyRule) -> expr.Expression:
        return expr.all_of(*(self._clause(kind, clause) for clause in (rule.who, rule.when) if clause))

    # Expressions

    def _clause(self, kind: KindPolicy, clause: Clause | None) -> expr.Expression:
        if clause is None:
            return expr.ALWAYS
        if (kind.id, clause) not in self.clauses:
            self.clauses[kind.id, clause] = self._tree(kind, clause.tree, clause.place)
        return self.clauses[kind.id, clause]

    def _tree(self, kind: KindPolicy, tree: syntax.SyntaxTree, place: SourceLocation) -> expr.Expression:
        match tree:
            case syntax.PathNode(names, equals):
                return self._path(kind, names, equals, place)
            case syntax.ComparisonNode():
                return self._request_comparison(kind, tree, place)
            case syntax.AndNode(trees):
                return expr.all_of(*(self._tree(kind, part, place) for part in trees))
            case syntax.OrNode(trees):
                return expr.any_of(*(self._tree(kind, part, place) for part in trees))
            case syntax.NotNode(part):
                return expr.Not(self._tree(kind, part, place))
            case syntax.QuantifierNode():
                return self._quantified(kind, tree, place)
            case syntax.AsHolderNode(holder, question):
                return self._holder(kind, holder.names, self._tree(kind, question, place), place)

    def _request_comparison(
        self, kind: KindPolicy, comparison: syntax.ComparisonNode, place: SourceLocation
    ) -> expr.Expression:
        """Resolve a comparison with a request property, which is like an attribute that no fact sets."""
        declared = self._models[kind.schema.model].request
        for end in (comparison.left, comparison.right):
            if isinstance(end, syntax.RequestProperty) and end.name not in declared.get(end.side, ()):
                hint = did_you_mean(end.name, declared.get(end.side, ()))
                raise ModelError(place, f"`request:` declares no {end.side} property {end.name!r}.", hint)
        self.request_comparisons[comparison.key] = comparison
        return expr.AttributeIs(comparison.key, "true", "true" if comparison.key in self._true_comparisons else "false")

    def _path(
        self, kind: KindPolicy, names: tuple[str, ...], equals: str | None, place: SourceLocation
    ) -> expr.Expression:
        if len(names) == 1:
            return self._last_name(kind, names[0], equals, place)
        step = self._step(kind, names[0], place)
        if step.back or kind.schema.edges[names[0]].many:
            raise ModelError(
                place,
                f"{names[0]!r} may lead from a {kind.schema.name} to many.",
                f"Use any({names[0]}).{names[1]} or every({names[0]}).{names[1]}.",
            )
        return expr.Some((expr.QuantifierItem(step),), self._at_ends((step,), names[1:], equals, place))

    def _at_ends(
        self, steps: Iterable[expr.EdgeStep], names: tuple[str, ...], equals: str | None, place: SourceLocation
    ) -> tuple[tuple[str, expr.Expression], ...]:
        ends = dict.fromkeys(kind for step in steps for kind in step.kinds)
        return tuple((end, self._path(self._kinds[end], names, equals, place)) for end in ends)

    def _step(self, kind: KindPolicy, name: str, place: SourceLocation) -> expr.EdgeStep:
        # Edges that lead to several kinds multiply with every step.
        self._steps[place] += 1
        if self._steps[place] > _MOST_STEPS:
            raise ModelError(place, f"this leads to more than {_MOST_STEPS:,} ends.", "Use fewer steps.")
        if name not in kind.steps:
            raise ModelError(place, f"a {kind.schema.name} has no edge {name!r}.", did_you_mean(name, kind.steps))
        return kind.steps[name]

    def _last_name(self, kind: KindPolicy, name: str, equals: str | None, place: SourceLocation) -> expr.Expression:
        schema = kind.schema
        for attributes, what in ((schema.attributes, expr.AttributeIs), (schema.membership, expr.MembershipIs)):
            if name in attributes:
                attribute = attributes[name]
                if equals is None and not attribute.is_flag:
                    raise ModelError(place, f"{name!r} is not on or off.", f"Use {name} = {attribute.values[0]}.")
                if equals is not None and equals not in attribute.values:
                    hint = did_you_mean(equals, attribute.values)
                    raise ModelError(place, f"{equals!r} is not a valid value of {name!r}.", hint)
                return what(name, equals or "true", attribute.default)
        if name == "self" and equals is None and kind.id == expr.MEMBER:
            return expr.IsSelf()
        known = {"everyone", *schema.roles, *schema.define, *schema.actions}
        if equals is not None or name not in known:
            if equals is not None and name in known:
                raise ModelError(place, f"{name!r} has no values: it is not an attribute.", f"Use {name} alone.")
            hint = did_you_mean(name, known | {*schema.attributes, *schema.membership})
            if name in kind.steps:
                hint = f"{name!r} is an edge: name a relation at its end, as in {name}.see, or any({name})."
            raise ModelError(place, f"a {schema.name} has no role, action, definition or attribute {name!r}.", hint)
        return expr.ALWAYS if name == "everyone" else expr.Relation(kind.id, name)

    def _quantified(self, kind: KindPolicy, tree: syntax.QuantifierNode, place: SourceLocation) -> expr.Expression:
        items = tuple(self._item(kind, item, place) for item in tree.items)
        steps = [step for item in items for step in (item.step, item.otherwise) if step]
        if tree.then is None:
            ends = dict.fromkeys(end for step in steps for end in step.kinds)
            there = expr.Some(items, tuple((end, expr.ALWAYS) for end in ends))
            return expr.Not(there) if tree.word == "no" else there
        then = self._at_ends(steps, tree.then.names, tree.then.equals, place)
        return expr.Every(items, then) if tree.word == "every" else expr.Some(items, then)

    def _item(self, kind: KindPolicy, item: syntax.ItemNode, place: SourceLocation) -> expr.QuantifierItem:
        step = self._step(kind, item.edge, place)
        otherwise = self._step(kind, item.otherwise, place) if item.otherwise else None
        if item.where is None:
            return expr.QuantifierItem(step, (), otherwise)
        where = tuple((end, self._tree(self._kinds[end], item.where, place)) for end in step.kinds)
        return expr.QuantifierItem(step, where, otherwise)

    def _holder(
        self, kind: KindPolicy, names: tuple[str, ...], question: expr.Expression, place: SourceLocation
    ) -> expr.Expression:
        if names == ("self",) and kind.id == expr.MEMBER:
            return expr.RoleHolder((), expr.IsSelf(), question)
        steps: list[expr.EdgeStep] = []
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
        return expr.RoleHolder(tuple(steps), expr.HasRole(here.id, frozenset({role.name}), person_only=True), question)
