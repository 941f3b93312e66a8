"""No pattern takes long on a hostile text: what somebody else wrote may be long, and made to hold a process up."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import pytest
from pyspark.errors import AnalysisException

import lakehold
from lakehold.connectors import error_translation
from lakehold.connectors.database.source import parenthesize
from lakehold.connectors.files import format_detection
from lakehold.kit import ids, jdbc_address
from lakehold.kit.errors import LakeholdError
from lakehold.lake import markdown
from lakehold.lake.spark.guard import query_errors, text_bounds
from lakehold.runs.scheduler.schedule import TriggerSchedule
from lakehold.workspaces import registry
from tests.processor_time import bounded

LENGTH = 20_000
"""Worth some milliseconds."""
PARTS = (
    *("a", "ab ", " ", "\n", "a.", "a-", "1", "1.", "a:", "a/", "//", "'", '"', "\\", "(", "[", "[a](", "{", "<", "**"),
    *("*a", "`", "#", "# a  ", "=", "a=", "a@", "%41", "e1", "_", "--", "/*", "lh_", "You can set ", "spark.a "),
    *("Batch entry ", "[a](https://", "<<told {", "host = ", "1:"),
)
CUT = (query_errors,)
"""Modules that cut a text before they use a pattern; their functions are tried themselves."""


def hostile_texts(length: int, parts: Iterable[str] = PARTS) -> Iterator[str]:
    for part in parts:
        yield (part * (length // len(part) + 1))[:length] + "!"
    for part in ("# a", "- ", "Position", "spark."):
        yield part + " " * length + "!"


def modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(lakehold.__path__, "lakehold."):
        if ".migrations" not in found.name and not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


def used_patterns() -> Iterator[tuple[str, str, re.Pattern[str]]]:
    """Yield every pattern of every module with each of the methods that are called on it."""
    for module in modules():
        if module in CUT:
            continue
        source = inspect.getsource(module)
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                for method in set(
                    re.findall(rf"\b{name}\.(match|fullmatch|search|sub|split|findall|finditer)\(", source)
                ):
                    yield f"{module.__name__}.{name}", method, value


METHODS = {"match", "fullmatch", "search", "sub", "split", "findall", "finditer"}
COMPOSED = {
    "lakehold.connectors.database.source": "parenthesize, below",
    "lakehold.connectors.files.format_detection": "detect_format, below",
    "lakehold.kit.jdbc_address": "parse_address and parse_allowed, below",
    "lakehold.web.connections.field_values": "patterns of settings, which `form_patterns` finds",
}
"""Modules with patterns that are made when they are used, and where those are tried."""


def inline_patterns() -> Iterator[tuple[str, str, re.Pattern[str]]]:
    """Yield the patterns that stand where they are used, and those in mappings. One that is composed must be listed."""
    for module in modules():
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            method = pattern_method(node)
            if method in METHODS and isinstance(node, ast.Call):
                if isinstance(node.args[0], ast.Constant):
                    yield f"{module.__name__}:{node.lineno}", method, re.compile(str(node.args[0].value))
                else:
                    assert module.__name__ in COMPOSED, (
                        f"{module.__name__}:{node.lineno} has a pattern that is not tried"
                    )
        for name, value in vars(module).items():
            if isinstance(value, Mapping):
                for each in value.values():
                    if isinstance(each, re.Pattern):
                        yield f"{module.__name__}.{name}", "fullmatch", each


def pattern_method(node: ast.AST) -> str:
    """The function of `re` that a call uses."""
    called = node.func if isinstance(node, ast.Call) else None
    is_ours = isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id == "re"
    return called.attr if is_ours and isinstance(called, ast.Attribute) else ""


def form_patterns() -> Iterator[tuple[str, str, re.Pattern[str]]]:
    """Yield the patterns that settings have to match in a form."""
    waiting: list[object] = [schema.json_schema("#/{model}") for schema in registry.settings_schemas().values()]
    while waiting:
        match waiting.pop():
            case dict() as here:
                if isinstance(here.get("pattern"), str):
                    yield f"a setting with {here['pattern']}", "fullmatch", re.compile(here["pattern"])
                waiting.extend(here.values())
            case list() as here:
                waiting.extend(here)


def test_every_pattern_is_linear() -> None:
    tried = 0
    for name, method, pattern in (*used_patterns(), *inline_patterns(), *form_patterns()):
        for text in hostile_texts(LENGTH):
            with bounded(f"{name}.{method} of {text[:20]!r} …"):
                match method:
                    case "sub":
                        pattern.sub("", text)
                    case "finditer":
                        list(pattern.finditer(text))
                    case _:
                        getattr(pattern, method)(text)
        tried += 1
    assert tried > 50


def _translate(text: str) -> object:
    return query_errors.translate_error(AnalysisException(text))


def _parenthesize(text: str) -> None:
    for product in ("postgresql", "mysql", "sqlserver", "sqlite", "oracle", "trino"):
        with suppress(LakeholdError):
            parenthesize(text, product)


def _parse_address(text: str) -> None:
    for product in ("postgresql", "sqlserver", "oracle:thin:@", "sqlite", "mysql"):
        with suppress(LakeholdError):
            jdbc_address.parse_address(f"jdbc:{product}:{text}")
        with suppress(LakeholdError, ValueError):
            jdbc_address.parse_allowed(f"jdbc:{product}:{text}, jdbc:{text}")


def _schedule(text: str) -> None:
    TriggerSchedule(cron=text).validate()


USES = (
    *(_translate, error_translation.redact, error_translation.shorten, markdown.as_html, markdown.as_chat),
    *(_parenthesize, _parse_address, _schedule, ids.valid_id, ids.valid_name, ids.quote, text_bounds.refuse_text),
)


@pytest.mark.parametrize("use", USES)
def test_a_megabyte_is_worth_no_wait(use: Callable[[str], object]) -> None:
    for text in hostile_texts(1_000_000, ("ab ", " ", "\n", "a/", "1:", "*a", "`", "[a](", "# a  ", "spark.a ")):
        with bounded(f"{use.__name__} of {text[:20]!r} …"), suppress(LakeholdError):
            use(text)


def test_a_megabyte_of_rows_is_worth_no_wait(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    for text in hostile_texts(1_000_000, (",'", "'a',", '"', "a,b\n", "{", "[", "1;2\n", "\t'", "|'a'")):
        file.write_text(text)
        with bounded(f"detect_format of {text[:20]!r} …"), suppress(LakeholdError):
            format_detection.detect_format(str(file))
