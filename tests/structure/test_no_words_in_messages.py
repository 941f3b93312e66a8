"""Nothing decides by the words of an error: errors carry a class, a code and a field.

Messages of foreign systems may be read where they have nothing better, in the one module that translates them.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "lakehold"
TRANSLATORS = {
    "access/query/statement.py": "SQLite has no code for a statement that is too deep for its parser.",
    "api/http/problems.py": "A message of Pydantic gets its full stop.",
    "connectors/error_translation.py": "Spark and drivers; and our own errors, which travel through Spark as JSON.",
    "connectors/files/json_array.py": "The position that Python's JSON decoder appends is left out.",
    "lake/spark/guard/query_errors.py": "Spark, where it has no error class.",
}
"""The modules that translate messages of foreign systems, and why they read them."""
MESSAGES = {"detail", "hint", "problem"}
ERRORS = {"error", "exc", "exception", "problem", "refusal", "refused", "cause", "failed", "orig"}
SEARCHES = {"startswith", "endswith", "find", "index", "count", "partition", "rpartition", "split", "splitlines"}
PATTERNS = {"search", "match", "fullmatch", "findall", "finditer"}


def is_message(node: ast.AST, texts: Collection[str] = ()) -> bool:
    """Whether it is the text of an error: `….message`, `str(error)`, a variable with it, or that in small letters."""
    match node:
        case ast.Name(name):
            return name in texts
        case ast.Attribute(attr="message"):
            return True
        case ast.Attribute(value=holder, attr=name) if name in MESSAGES:
            return names_error(holder)
        case ast.Call(func=ast.Name("str"), args=[argument]):
            return names_error(argument)
        case ast.Call(func=ast.Attribute(value=inner, attr="lower" | "upper" | "casefold" | "strip")):
            return is_message(inner, texts)
        case ast.Attribute(value=holder, attr="args"):
            return names_error(holder)
        case ast.Subscript(value=inner):
            return is_message(inner, texts)
        case ast.NamedExpr(value=inner):
            return is_message(inner, texts)
        case ast.IfExp(body=one, orelse=other):
            return is_message(one, texts) or is_message(other, texts)
        case ast.BoolOp(values=several):
            return any(is_message(each, texts) for each in several)
    return False


def names_error(node: ast.AST) -> bool:
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name in ERRORS or name.endswith(("_error", "_problem"))


def message_variables(scope: ast.AST) -> Iterator[str]:
    """Yield the variables that get the text of an error: `text = str(error)`."""
    for node in ast.walk(scope):
        match node:
            case ast.Assign(targets=[ast.Name(name)], value=value) if is_message(value):
                yield name
            case ast.AnnAssign(target=ast.Name(name), value=ast.expr() as value) if is_message(value):
                yield name
            case ast.NamedExpr(target=ast.Name(name), value=value) if is_message(value):
                yield name


def decisions(tree: ast.AST) -> list[int]:
    """Return the lines in which something is looked for in the text of an error."""
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    found = [decisions_in(tree), *(decisions_in(each, set(message_variables(each))) for each in functions)]
    return sorted({line for lines in found for line in lines})


def decisions_in(scope: ast.AST, texts: Collection[str] = ()) -> Iterator[int]:
    for node in ast.walk(scope):
        match node:
            case ast.Compare(left=left, ops=operators, comparators=others):
                contains = any(isinstance(each, ast.In | ast.NotIn) for each in operators)
                compares = any(isinstance(each, ast.Eq | ast.NotEq) for each in operators)
                if (contains and any(is_message(each, texts) for each in others)) or (
                    compares and any(is_message(each, texts) for each in [left, *others])
                ):
                    yield node.lineno
            case ast.Call(func=ast.Attribute(value=text, attr=name)) if name in SEARCHES and is_message(text, texts):
                yield node.lineno
            case ast.Call(func=ast.Attribute(attr=name), args=arguments) if name in PATTERNS:
                if any(is_message(each, texts) for each in arguments):
                    yield node.lineno


@pytest.mark.parametrize(
    "text",
    [
        'if "time zone" in error.message: pass',
        'if "no driver" not in str(error): pass',
        'error.message.startswith(("No worker", "The worker"))',
        'str(error).lower().endswith("up")',
        "_PLACE.search(str(looked.error))",
        're.match("line", refusal.hint)',
        'if self.error.message == "It was stopped.": pass',
        'if "gone" in error.args[0]: pass',
        'def f():\n text = str(error.orig)\n return "locked" in text',
        'def f():\n text: str = error.message.lower()\n return text.startswith("no")',
        'def f():\n if (text := str(error)) == "gone": pass',
        'def f():\n text = str(error) if error else ""\n return _PLACE.search(text)',
        'def f():\n text = str(error) or "none"\n return text.split(":")[0] in KNOWN',
    ],
)
def test_a_decision_by_words_is_found(text: str) -> None:
    assert decisions(ast.parse(text))


@pytest.mark.parametrize(
    "text",
    [
        "log(str(error))",
        "f'{error.message} {error.hint}'",
        'if error.field == "zone": pass',
        'message.endswith(".")',
        'def f():\n text = str(error)\n return text\n\n\ndef g(text):\n return "a" in text',
    ],
)
def test_writing_a_message_is_no_decision(text: str) -> None:
    assert not decisions(ast.parse(text))


def test_nothing_looks_for_words_in_a_message() -> None:
    found = [
        f"{file.relative_to(SOURCE)}:{line}"
        for file in sorted(SOURCE.rglob("*.py"))
        if str(file.relative_to(SOURCE)) not in TRANSLATORS
        for line in decisions(ast.parse(file.read_text(encoding="utf-8")))
    ]
    assert not found, "Give the error a code or a field instead"


@pytest.mark.parametrize("name", TRANSLATORS)
def test_every_exception_is_needed(name: str) -> None:
    assert decisions(ast.parse((SOURCE / name).read_text(encoding="utf-8")))
