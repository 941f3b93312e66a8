"""Nobody reads resources past the access filter: outside of the engine no file takes their table, or names it in SQL,
unless a comment that begins with `# past the access filter:` says why, on the line before.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import lakehold

SOURCE = Path(lakehold.__file__).parent
ENGINE = SOURCE / "access"
STEPS = SOURCE / "migrations"
ESCAPE = "# past the access filter:"
_IN_SQL = re.compile(r"\b(?:from|join|into|update)\s+resource\b", re.IGNORECASE)
_FACTS = "lakehold.access.facts"


def doors(text: str) -> Iterator[int]:
    """The lines on which a file comes by the table of resources."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Constant(value=str(words)) if _IN_SQL.search(words):
                yield node.lineno
            case ast.ImportFrom(module=module) if module == f"{_FACTS}.tables":
                if {"resource", "TABLES", "*"} & {alias.name for alias in node.names}:
                    yield node.lineno
            case ast.Attribute(value=ast.Name(id="tables"), attr="resource" | "TABLES"):
                yield node.lineno
            case ast.Subscript(value=ast.Attribute(attr="tables"), slice=ast.Constant(value="resource")):
                yield node.lineno


def unexplained(text: str) -> list[int]:
    lines = text.splitlines()
    return sorted({n for n in doors(text) if n < 2 or not lines[n - 2].strip().startswith(ESCAPE)})


FILES = sorted(path for path in SOURCE.rglob("*.py") if not {ENGINE, STEPS} & set(path.parents))


@pytest.mark.parametrize("file", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_resources_are_asked_for_by_the_engine(file: Path) -> None:
    found = unexplained(file.read_text(encoding="utf-8"))
    assert not found, f"{file.name}:{found}: ask the session's list, or say why not on the line before: {ESCAPE} …"


@pytest.mark.parametrize(
    "source",
    [
        'sa.text("SELECT uid FROM resource WHERE tenant_id = 1")',
        'run("UPDATE resource SET name = :name")',
        "sa.select(tables.resource.c.uid)",
        'tables.TABLES["resource"].update()',
        'metadata.tables["resource"].select()',
        "from lakehold.access.facts.tables import attribute, resource",
        "from lakehold.access.facts.tables import resource as r",
    ],
)
def test_the_look_finds_it_unless_it_is_explained(source: str) -> None:
    assert unexplained(source) == [1]
    assert unexplained(f"{ESCAPE} it is a test\n{source}") == []
    assert unexplained(f"{ESCAPE} it is a test\n\n{source}") == [3]


def test_what_is_no_door_is_let_through() -> None:
    assert unexplained('ask("resource")\nfrom lakehold.access.facts.tables import grant\nsa.select(grant)') == []
