"""Every REST operation of an earlier release is still answered, with its parameters and the fields of its body.

A line of the file is a method and a path, its query parameters and headers, and after a bar the fields of its body. An
operation that gets another path keeps the old one as an alias.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from lakehold.api.http.app import operations
from tests.api.openapi_document import load_document

DOCUMENT = load_document()
FOUND = {(method.upper(), path): operation for path, method, operation in operations(DOCUMENT)}
OLD = (Path(__file__).parent / "operations_6be130b.txt").read_text(encoding="utf-8").splitlines()


def body_fields(schema: Mapping[str, Any]) -> Iterator[str]:
    if "$ref" in schema:
        yield from body_fields(DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    yield from schema.get("properties", ())
    for part in (*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())):
        yield from body_fields(part)


def test_the_list_is_whole() -> None:
    assert len(OLD) == 183


@pytest.mark.parametrize("line", OLD)
def test_an_operation_of_an_earlier_release_is_answered(line: str) -> None:
    named, _, fields = line.partition(" | ")
    method, path, *parameters = named.split()
    operation = FOUND[method, path]
    assert {*parameters} <= {each["name"] for each in operation.get("parameters", ())}
    contents = operation.get("requestBody", {}).get("content", {}).values()
    assert {*fields.split()} <= {name for content in contents for name in body_fields(content.get("schema", {}))}
