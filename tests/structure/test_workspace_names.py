"""What all ways of working share names none of them: it asks the descriptors and the models.

Names are the ids of kinds, the compound names of kinds, roles and actions, and in the place of an action every action
that only workspaces have. Single words elsewhere are not looked at: `list` is an action of spaces, and a verb of the
command.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakehold import directory, workspaces
from lakehold.access.model.schema import AccessModel

SOURCE = Path(__file__).parents[2] / "src" / "lakehold"
OWN = {"workspaces", "demo", "migrations"}
"""The rooms that may name workspaces: their own, that of a company which has some, and the past."""
ROOMS = [folder for folder in sorted(SOURCE.iterdir()) if (folder / "__init__.py").is_file() and folder.name not in OWN]
EXEMPT = {
    "cli/tour.py": "The tour asks questions about the demo company.",
}
"""Modules that speak of a company that there is, and why."""
GENERAL = {
    "catalog/credentials.py": (
        frozenset({"copy_credentials"}),
        "Any kind may have the action; one without it copies no secrets.",
    ),
    "catalog/integration_reads.py": (frozenset({"read"}), "The action on the ends of the edge `reads`, in any model."),
    "catalog/resource_edit.py": (frozenset({"move"}), "The action for which every change of a parent is refused."),
    "catalog/resources.py": (frozenset({"restore"}), "The action for which every restoration is refused."),
}
"""Actions that are the catalog's own words, though only workspaces have them, and why."""
EXAMPLES = {"examples"}
"""Arguments that OpenAPI and the help show as examples."""
ACTION_PLACES = {"need": 0, "need_visible": 1, "check": 1, "list": 1, "ids": 1, "who": 0}
"""The methods that take an action, and at which place."""


def names_of(model: AccessModel) -> tuple[set[str], set[str]]:
    """Return the names of kinds and roles of a model, and those of its actions."""
    kinds = model.kinds.values()
    named = {name for kind in kinds for name in (kind.id, kind.name, *kind.roles)}
    return named, {action for kind in kinds for action in kind.actions}


def workspace_names() -> tuple[set[str], set[str]]:
    """Return the names that only workspaces have, and their actions."""
    models = {model.name: names_of(model) for model in workspaces.models()}
    tenant, tenant_actions = models.pop(directory.model().name)
    named = set().union(*(names for names, _ in models.values())) - tenant
    actions = set().union(*(actions for _, actions in models.values())) - tenant_actions
    return {name for name in named | actions if "." in name or "_" in name}, actions


NAMES, ACTIONS = workspace_names()


def literals(tree: ast.AST) -> Iterator[ast.Constant]:
    """Yield the texts of a module, without those that are examples."""
    if isinstance(tree, ast.keyword) and tree.arg in EXAMPLES:
        return
    if isinstance(tree, ast.Constant) and isinstance(tree.value, str):
        yield tree
    for child in ast.iter_child_nodes(tree):
        yield from literals(child)


def actions_asked(tree: ast.AST) -> Iterator[ast.Constant]:
    """Yield the actions that are asked for, as `ctx.need("read", uid)` and `"read" in found.actions` do."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr=name), args=args) if len(args) > ACTION_PLACES.get(name, len(args)):
                if isinstance(found := args[ACTION_PLACES[name]], ast.Constant):
                    yield found
            case ast.Call(func=ast.Attribute(attr="actions_of"), args=[_, _, ast.Dict(keys=keys)]):
                yield from (key for key in keys if isinstance(key, ast.Constant))
            case ast.Compare(left=ast.Constant() as found, ops=[ast.In() | ast.NotIn()], comparators=[ast.Attribute()]):
                yield found


def named_workspaces(source: str, general: frozenset[str] = frozenset()) -> list[str]:
    """Return the names of workspaces in a module, with their lines."""
    tree = ast.parse(source)
    found = [each for each in literals(tree) if each.value in NAMES - general]
    found += [each for each in actions_asked(tree) if each.value in ACTIONS - general]
    return sorted({f"{each.lineno}: {each.value!s}" for each in found})


def modules() -> list[Path]:
    return sorted(file for room in ROOMS for file in room.rglob("*.py"))


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.relative_to(SOURCE).as_posix())
def test_shared_code_names_no_workspace(module: Path) -> None:
    name = module.relative_to(SOURCE).as_posix()
    if name not in EXEMPT:
        general, _ = GENERAL.get(name, (frozenset(), ""))
        assert not named_workspaces(module.read_text(encoding="utf-8"), general)


def test_exempt_modules_exist_and_need_it() -> None:
    assert all((SOURCE / module).is_file() for module in EXEMPT)
    for module, (general, _) in GENERAL.items():
        found = named_workspaces((SOURCE / module).read_text(encoding="utf-8"))
        assert {each.partition(": ")[2] for each in found} == general


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ('EXECUTE = "execute_query"', "execute_query"),
        ('KIND = "lakehouse.table"', "lakehouse.table"),
        ('hints = {"technical_user": "Edits."}', "technical_user"),
        ('ctx.need("read", uid)', "read"),
        ('ctx.session.check(ctx.principal, "read", uid)', "read"),
        ('"use" in found.actions', "use"),
        ('resource_header.actions_of(ctx, uid, {"write": act})', "write"),
        ('Field(default="lakehouse.table", examples=["lakehouse.layer"])', "lakehouse.table"),
    ],
)
def test_names_are_found(source: str, name: str) -> None:
    assert named_workspaces(source) == [f"1: {name}"]


@pytest.mark.parametrize(
    "source",
    [
        'Field(examples=["lakehouse.table"])',
        'ctx.need("see_audit", tenant)',
        'ctx.need("edit", uid)',
        'noun.verb("list")',
        'roles["data_admin"]',
    ],
)
def test_examples_and_words_of_the_tenant_are_no_names(source: str) -> None:
    assert not named_workspaces(source)
