"""Names say what they are in the words of the field."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "lakehold"
TREES = {
    file.relative_to(SOURCE).as_posix(): ast.parse(file.read_text(encoding="utf-8"))
    for file in sorted(SOURCE.rglob("*.py"))
    if "versions" not in file.parts
}
RIDDLES = {"told", "shown", "house", "wanted", "doing", "eyes", "looked"}
"""Words of which no part of a name is made."""
BARE = {"look", "made", "of"}
"""Words that say nothing alone, though `made_at` does."""
ACTIVITIES = {
    *("blocking", "housekeeping", "landing", "logging", "listing", "matching", "onboarding", "paging", "parsing"),
    *("ranking", "routing", "training"),
}
"""The words in -ing that the field itself uses."""
QUESTION = re.compile(r"(What|How|When|Where|Whoever|Who|Nobody)\b|.*\b[Ww]hoever\b")
"""First lines of docstrings that describe a thing by a question."""
PARTICIPLE = re.compile(r"_?[A-Z][a-z]+(ed|ing)|Told|Shown|Made|Kept")


def identifiers(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=str(name)):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.alias(name=name):
                yield name


def test_no_identifier_is_a_riddle() -> None:
    found = {
        f"{file}: {name}"
        for file, tree in TREES.items()
        for name in identifiers(tree)
        if RIDDLES & set(name.lower().strip("_").split("_")) or name.strip("_") in BARE
    }
    assert not found


def test_no_class_is_a_bare_participle_and_no_two_public_ones_share_a_name() -> None:
    places = defaultdict(list)
    for file, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                assert not re.fullmatch(r"_?[A-Z][a-z]+(ed|ing)|Told|Shown|Made|Kept", node.name), (
                    f"{file}: {node.name}"
                )
                places[node.name].append(file)
    assert not {name: files for name, files in places.items() if len(files) > 1 and not name.startswith("_")}


def test_no_module_is_named_by_an_activity() -> None:
    words = {(file, Path(file).stem.rpartition("_")[2]) for file in TREES}
    assert not {file for file, word in words if word.endswith("ing") and word not in ACTIVITIES}


def test_no_docstring_begins_with_a_question() -> None:
    found = {
        f"{file}: {docstring.partition(chr(10))[0]}"
        for file, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and (docstring := ast.get_docstring(node))
        and QUESTION.match(docstring)
    }
    assert not found
