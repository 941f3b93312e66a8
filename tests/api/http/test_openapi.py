"""The document is complete, and not stale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import jsonschema_rs
import pytest

from lakehold.api.http import app
from lakehold.api.http.app import operations
from lakehold.api.http.problems import MEDIA_TYPE
from tests.api.openapi_document import load_document

DOCUMENT = load_document()
OPERATIONS = list(operations(DOCUMENT))
NAMES = [operation["operationId"] for _, _, operation in OPERATIONS]
OURS = [found for found in OPERATIONS if not found[0].startswith(("/healthz", "/readyz", "/metrics"))]

each = pytest.mark.parametrize(
    "operation", [operation for _, _, operation in OURS], ids=[operation["operationId"] for _, _, operation in OURS]
)


def media(operation: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for part in (operation.get("requestBody"), *operation["responses"].values()):
        yield from (part or {}).get("content", {}).items()


@each
def test_it_says_what_it_is_for(operation: dict[str, Any]) -> None:
    assert operation["summary"][0].isupper()
    assert operation["description"]
    assert operation["description"][0] in "`" + ascii_uppercase, "a sentence was cut in two"
    assert len(operation["tags"]) == 1


@each
def test_it_says_who_may_call(operation: dict[str, Any]) -> None:
    assert "security" in operation
    if operation["security"]:
        assert {"401", "403", "404", "422"} <= set(operation["responses"])


@each
def test_it_says_what_it_answers(operation: dict[str, Any]) -> None:
    good = {status: answer for status, answer in operation["responses"].items() if status.startswith("2")}
    assert good
    for status, answer in good.items():
        assert status == "204" or answer["content"], status
    for status, answer in operation["responses"].items():
        if status >= "400":
            assert list(answer["content"]) == [MEDIA_TYPE], status


@each
def test_every_body_and_answer_has_an_example_that_fits(operation: dict[str, Any]) -> None:
    for name, found in media(operation):
        if name in {"application/json", MEDIA_TYPE}:
            schema = {**found["schema"], "components": DOCUMENT["components"]}
            jsonschema_rs.validator_for(schema).validate(found["example"])


@each
def test_every_parameter_is_told_by_its_schema(operation: dict[str, Any]) -> None:
    for parameter in operation.get("parameters", ()):
        assert parameter["schema"]


def test_names_are_used_once() -> None:
    assert [name for name, count in Counter(NAMES).items() if count > 1] == []


def test_the_one_in_the_docs_is_not_stale() -> None:
    kept = Path(__file__).parents[3] / "docs" / "openapi.json"
    assert kept.read_text(encoding="utf-8") == app.openapi_text(), "Run `make docs`."
