"""No pattern takes long on a hostile text: what somebody else wrote may be long, and made to hold a process up."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType, ModuleType

import pytest
from pyspark.errors import AnalysisException

import lakehold
from lakehold.connectors import error_translation
from lakehold.lake import markdown
from lakehold.lake.spark.guard import query_errors

LENGTH = 20_000
SECONDS = 5.0
"""Of processor time, so that a busy machine changes nothing. A text of this length is worth some milliseconds."""
PARTS = (
    *("a", "ab ", " ", "\n", "a.", "a-", "1", "1.", "a:", "a/", "//", "'", '"', "\\", "(", "[", "[a](", "{", "<", "**"),
    *("*a", "`", "#", "# a  ", "=", "a=", "a@", "%41", "e1", "_", "--", "/*", "lh_", "You can set ", "spark.a "),
    *("Batch entry ", "[a](https://", "<<told {", "host = ", "1:"),
)
CUT = (query_errors,)
"""Modules that cut a text before they use a pattern; their functions are tried themselves."""


@contextmanager
def bounded(what: str) -> Iterator[None]:
    """Fail if this takes more processor time than a linear scan ever does."""

    def fail(_number: int, _frame: FrameType | None) -> None:
        raise AssertionError(f"{what} does not come to an end.")

    before = signal.signal(signal.SIGVTALRM, fail)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


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


def test_every_pattern_is_linear() -> None:
    tried = 0
    for name, method, pattern in used_patterns():
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


@pytest.mark.parametrize("use", [_translate, error_translation.redact, markdown.as_html, markdown.as_chat])
def test_a_megabyte_is_worth_no_wait(use: Callable[[str], object]) -> None:
    for text in hostile_texts(1_000_000, ("ab ", " ", "\n", "a/", "1:", "*a", "`", "[a](", "# a  ", "spark.a ")):
        with bounded(f"{use.__name__} of {text[:20]!r} …"):
            use(text)
