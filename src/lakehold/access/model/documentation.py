"""The tables of a model's documentation, in Markdown."""

from collections.abc import Iterable, Iterator, Sequence

from lakehold.access.model.schema import AccessModel, AttributeKind, Clause, EdgeKind, KindSchema, PolicyRule, RoleKind
from lakehold.access.model.syntax import PathNode

YES, NO = "✓", "–"


def to_markdown(model: AccessModel) -> str:
    """Return the documentation page of one model."""
    return "\n".join(_page(model)).rstrip() + "\n"


def _page(model: AccessModel) -> Iterator[str]:
    yield f"# {model.title}: who may do what"
    yield ""
    yield "Written from the model by `make docs`; change the model, not this page."
    yield "Every ✓ is a path that allows the action, by its role or by one that it implies; a decision is the union of"
    yield "all paths. Nothing denies."
    yield ""
    if model.everyone:
        yield f"The group All means those who hold a role on the {model.everyone.replace('_', ' ')}."
    else:
        yield "The group All means every member of the tenant."
    for kind in model.kinds.values():
        yield ""
        yield from _kind(model, kind)


def _kind(model: AccessModel, kind: KindSchema) -> Iterator[str]:
    yield f"## {kind.title}"
    yield ""
    where = f"Lies in a {kind.parent.replace('_', ' ')}. " if kind.parent else ""
    created_by = f"Made by: {_code(kind.create)}. " if kind.create else ""
    rights = _edit_and_delete_rights(kind)
    becomes = f"Who makes it becomes {kind.roles[kind.creator].title}." if kind.creator else ""
    if where or created_by or becomes or rights:
        yield " ".join((where + created_by + becomes + " " + rights).split())
        yield ""
    if kind.actions:
        yield from _matrix(model, kind)
    if kind.gates:
        yield ""
        yield from _table(["gate", "for"], ([_code(gate.when), ", ".join(gate.may)] for gate in kind.gates))
    yield from _section(
        "Roles",
        ["role", "implies", "comes from", "counts when", "given with", "held by"],
        map(_role, kind.roles.values()),
    )
    yield from _section(
        "Attributes", ["attribute", "values", "default", "set with"], map(_attribute, kind.attributes.values())
    )
    yield from _section(
        "Of a membership", ["attribute", "values", "default", "set with"], map(_attribute, kind.membership.values())
    )
    edges = (edge for edge in kind.edges.values() if edge.name != kind.parent or edge.set_with)
    yield from _section("Edges", ["edge", "leads to", "set with", "needs there"], map(_edge, edges))
    yield from _section("In other words", ["name", "means"], ([n, _code(c)] for n, c in kind.define.items()))


def _edit_and_delete_rights(kind: KindSchema) -> str:
    """Describe the rights that editing and deleting need, where that is not plain from the actions' own names."""
    clauses = ((kind.edited_with, "edit", "Edited with"), (kind.deleted_with, "delete", "Deleted with"))
    return " ".join(f"{words}: {_code(clause)}." for clause, usual, words in clauses if clause and clause.text != usual)


def _matrix(model: AccessModel, kind: KindSchema) -> Iterator[str]:
    columns = [(_path(rule), _actions(model, kind, rule)) for rule in kind.allow]
    rows = ([action, *(YES if action in may else NO for _, may in columns)] for action in kind.actions)
    yield from _table(["action", *(path for path, _ in columns)], rows)


def _actions(model: AccessModel, kind: KindSchema, rule: PolicyRule) -> set[str]:
    """Return what a rule allows, and what its role may do by the roles that it implies, under the same condition."""
    found, names = set(rule.may), _role_path(rule)
    if names is None:
        return found
    *edges, name = names
    owner: KindSchema | None = kind
    for edge in edges:
        known = owner.edges.get(edge) if owner else None
        owner = model.kinds.get(known.to[0]) if known else None
    role = owner.roles.get(name) if owner else None
    while owner and role and role.implies:
        role = owner.roles.get(role.implies)
        path = (*edges, role.name) if role else ()
        found |= {
            action
            for other in kind.allow
            if _role_path(other) == path and (other.when is None or (rule.when and other.when.text == rule.when.text))
            for action in other.may
        }
    return found


def _role_path(rule: PolicyRule) -> tuple[str, ...] | None:
    """Return the names that lead to the one role which a rule is about; None if it is about more than a role."""
    tree = rule.who.tree if rule.who else None
    return tuple(tree.names) if isinstance(tree, PathNode) and tree.equals is None else None


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
