"""The tables of a model's documentation, in Markdown."""

from collections.abc import Iterable, Iterator, Sequence

from lakehold.access.model import expressions as expr
from lakehold.access.model.policy import Policy
from lakehold.access.model.schema import AccessModel, AttributeKind, Clause, EdgeKind, KindSchema, PolicyRule, RoleKind

YES, NO = "✓", "–"


def to_markdown(model: AccessModel, policy: Policy) -> str:
    """Return the documentation page of one model."""
    return "\n".join(_page(model, policy)).rstrip() + "\n"


def _page(model: AccessModel, policy: Policy) -> Iterator[str]:
    yield f"# {model.title}: who may do what"
    yield ""
    yield "Written from the model by `make docs`; change the model, not this page."
    yield "Every ✓ is a path that allows the action, by its role or by one that it implies or inherits; a decision is"
    yield "the union of all paths. Nothing denies."
    yield ""
    if model.everyone:
        yield f"The group All means those who hold a role on the {model.everyone.replace('_', ' ')}."
    else:
        yield "The group All means every member of the tenant."
    for kind in model.kinds.values():
        yield ""
        yield from _kind(policy, kind)


def _kind(policy: Policy, kind: KindSchema) -> Iterator[str]:
    yield f"## {kind.title}"
    yield ""
    where = f"Parent: {kind.parent.replace('_', ' ')}. " if kind.parent else ""
    created_by = f"Created with: {_code(kind.create)}. " if kind.create else ""
    rights = _edit_and_delete_rights(kind)
    becomes = f"The creator becomes {kind.roles[kind.creator].title}." if kind.creator else ""
    if where or created_by or becomes or rights:
        yield " ".join((where + created_by + becomes + " " + rights).split())
        yield ""
    if kind.actions:
        yield from _matrix(policy, kind)
    if kind.gates:
        yield ""
        yield from _table(["gate", "for"], ([_code(gate.when), ", ".join(gate.may)] for gate in kind.gates))
    yield from _section(
        "Roles",
        ["role", "implies", "comes from", "counts when", "given with", "held by"],
        map(_role, kind.roles.values()),
    )
    for title, attributes in (("Attributes", kind.attributes), ("Membership attributes", kind.membership)):
        head = ["attribute", "values", "default", "set with"]
        yield from _section(title, head, map(_attribute, attributes.values()))
    edges = (edge for edge in kind.edges.values() if edge.name != kind.parent or edge.set_with)
    yield from _section("Edges", ["edge", "leads to", "set with", "needs there"], map(_edge, edges))
    yield from _section("Definitions", ["name", "means"], ([n, _code(c)] for n, c in kind.define.items()))


def _edit_and_delete_rights(kind: KindSchema) -> str:
    """Describe the rights that editing and deleting need, where that is not plain from the actions' own names."""
    clauses = ((kind.edited_with, "edit", "Edited with"), (kind.deleted_with, "delete", "Deleted with"))
    return " ".join(f"{words}: {_code(clause)}." for clause, usual, words in clauses if clause and clause.text != usual)


def _matrix(policy: Policy, kind: KindSchema) -> Iterator[str]:
    rules = policy.rules[kind.id]
    columns = [
        {action for other, wider in rules if _entails(policy, narrow, wider) for action in other.may}
        for _, narrow in rules
    ]
    rows = ([action, *(YES if action in may else NO for may in columns)] for action in kind.actions)
    yield from _table(["action", *(_path(rule) for rule, _ in rules)], rows)


def _entails(policy: Policy, one: expr.Expression, other: expr.Expression) -> bool:
    """Return whether the second expression surely holds wherever the first does, by the roles that others imply."""
    if other in {one, expr.ALWAYS}:
        return True
    match one, other:
        case expr.AnyOf(parts), _ if parts:
            return all(_entails(policy, part, other) for part in parts)
        case _, expr.AllOf(parts):
            return all(_entails(policy, one, part) for part in parts)
        case expr.HasRole(kind, roles, person), expr.HasRole(other_kind, wider, other_person):
            return kind == other_kind and roles <= wider and person >= other_person
        case expr.Some(items, then), expr.Some(other_items, other_then) if items == other_items:
            return all(_entails(policy, a, b) for (_, a), (_, b) in zip(then, other_then, strict=True))
    return (
        (isinstance(other, expr.AnyOf) and any(_entails(policy, one, part) for part in other.parts))
        or (isinstance(one, expr.AllOf) and any(_entails(policy, part, other) for part in one.parts))
        or (isinstance(other, expr.Relation) and _entails(policy, one, policy.relations[other.kind, other.name]))
        or (isinstance(one, expr.Relation) and _entails(policy, policy.relations[one.kind, one.name], other))
    )


def _path(rule: PolicyRule) -> str:
    return " when ".join(_code(clause) for clause in (rule.who, rule.when) if clause)


def _role(role: RoleKind) -> Sequence[str]:
    return [
        role.title,
        role.implies.replace("_", " ") if role.implies else NO,
        _code(role.derived),
        _code(role.when),
        _code(role.given_with),
        ("one person" if role.single else "a person") if role.person_only else "members and groups",
    ]


def _attribute(attribute: AttributeKind) -> Sequence[str]:
    values = "on, off" if attribute.is_flag else ", ".join(attribute.values)
    default = _value(attribute.default)
    if attribute.imported:
        default += f", imported {_value(attribute.imported)}"
    clauses = {clause.text for clause in attribute.set_with.values()}
    if len(clauses) > 1:
        set_with = ", ".join(f"{value}: {_code(clause)}" for value, clause in attribute.set_with.items())
    else:
        set_with = _code(next(iter(attribute.set_with.values()), None))
    return [attribute.name, values, default, set_with]


def _value(value: str) -> str:
    return {"true": "on", "false": "off"}.get(value, value)


def _edge(edge: EdgeKind) -> Sequence[str]:
    many = "many " if edge.many else ""
    set_with = _code(edge.set_with) + (", before and after" if edge.also_after else "")
    return [edge.name, many + " or ".join(to.replace("_", " ") for to in edge.to), set_with, edge.needs or NO]


def _code(clause: Clause | None) -> str:
    return f"`{clause.text}`" if clause else NO


def _section(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    found = list(rows)
    if found:
        yield ""
        yield f"**{title}**"
        yield ""
        yield from _table(head, found)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join(row)} |"
