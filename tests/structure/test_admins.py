"""Nothing outside the engine compares names of roles to find out who is an admin: it asks for the right."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakehold import workspaces

SOURCE = Path(__file__).parents[2] / "src" / "lakehold"
ROLES = {role for model in workspaces.models() for kind in model.kinds.values() for role in kind.roles}
ADMINS = {"owner", *(role for role in ROLES if "admin" in role)}


def compared(source: str) -> Iterator[str]:
    """Yield the texts that are compared, alone or as one of several."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Compare(left=left, comparators=others):
                sides = [left, *others]
            case ast.MatchValue(value=value):
                sides = [value]
            case _:
                continue
        sides += [each for side in sides if isinstance(side, ast.Set | ast.Tuple | ast.List) for each in side.elts]
        yield from (side.value for side in sides if isinstance(side, ast.Constant) and isinstance(side.value, str))


def test_no_name_of_an_admin_role_is_compared() -> None:
    files = [file for file in SOURCE.rglob("*.py") if file.relative_to(SOURCE).parts[0] != "access"]
    assert not [file.name for file in files if ADMINS.intersection(compared(file.read_text(encoding="utf-8")))]


@pytest.mark.parametrize("source", ['role == "admin"', 'role in {"owner", "member"}', '"data_admin" in held'])
def test_comparisons_are_found(source: str) -> None:
    assert ADMINS.intersection(compared(source))
