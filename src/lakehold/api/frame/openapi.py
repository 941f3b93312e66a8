"""The complete document: what every operation takes and gives, with an example of each.

Examples are put together from those of the fields, so that they cannot drift from the types.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from lakehold.api.frame.callers import COOKIE
from lakehold.api.frame.problems import FieldProblem, Giver, Problem

Schema = dict[str, Any]

_ABOUT = """Lakehold over HTTP. Every question is answered, and every change decided, by one access engine.

Errors are `application/problem+json` with a `code` for programs and a `hint` for people. Lists are paged by `after`
and `next`. A create may carry an `Idempotency-Key`; a change of what has an `ETag` needs `If-Match`. What the caller
may not see answers 404, like what does not exist."""

_SECURITY = {
    "token": {"type": "http", "scheme": "bearer", "description": "An API token: `lh_…`."},
    "live": {"type": "http", "scheme": "bearer", "description": "The secret of a live destination: `lhp_…`."},
    "session": {"type": "apiKey", "in": "cookie", "name": COOKIE, "description": "The sign-in of the web app."},
}
_OF_TYPE: dict[str, object] = {"integer": 1, "number": 1.0, "boolean": True, "null": None, "object": {}}


def install(app: FastAPI) -> None:
    """Let the application tell the complete document."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = complete(app)
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]


def complete(app: FastAPI) -> dict[str, Any]:
    """The document with security, problems and examples."""
    made = get_openapi(title=app.title, version=app.version, description=_ABOUT, routes=app.routes)
    components = made.setdefault("components", {})
    components["securitySchemes"] = _SECURITY
    schemas = components.setdefault("schemas", {})
    for model in (Problem, FieldProblem, Giver):
        schema = model.model_json_schema(ref_template="#/components/schemas/{model}", mode="serialization")
        schema.pop("$defs", None)
        schemas[model.__name__] = schema
    schemas.pop("HTTPValidationError", None)
    schemas.pop("ValidationError", None)
    for media in _media(made):
        media.setdefault("example", example_of(media["schema"], schemas))
    return made


def text(app: FastAPI) -> str:
    """The document as it is kept in the docs."""
    return json.dumps(app.openapi(), indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def operations(document: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every operation with its path and method."""
    for path, item in document["paths"].items():
        for method, operation in item.items():
            yield path, method, operation


def _media(document: Mapping[str, Any]) -> Iterator[Schema]:
    for _, _, operation in operations(document):
        for part in (operation.get("requestBody"), *operation["responses"].values()):
            for media in (part or {}).get("content", {}).values():
                if "schema" in media:
                    yield media


def example_of(schema: Schema, schemas: Mapping[str, Schema]) -> Any:  # noqa: ANN401 - any JSON
    """An example of the schema, from the examples of its parts."""
    if "$ref" in schema:
        return example_of(schemas[schema["$ref"].rpartition("/")[2]], schemas)
    for ready in ("example", "const", "default"):
        if schema.get(ready) is not None:
            return schema[ready]
    for several in ("examples", "enum"):
        if schema.get(several):
            return schema[several][0]
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in schema:
            return example_of(schema[choice][0], schemas)
    match schema.get("type"):
        case "array":
            return [example_of(schema["items"], schemas)] if schema.get("items") else []
        case "object" if "properties" in schema:
            return {name: example_of(part, schemas) for name, part in schema["properties"].items()}
        case found:
            return _OF_TYPE.get(found or "null", "…")
