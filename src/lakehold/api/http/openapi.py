"""The complete OpenAPI document: every operation with examples of its bodies and responses.

Examples are composed from those of the fields, so that they cannot drift from the types.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from lakehold.api.http.authentication import SESSION_COOKIE
from lakehold.api.http.problems import FieldProblem, Giver, Problem
from lakehold.workspaces import registry

Schema = dict[str, Any]

_DESCRIPTION = """Lakehold over HTTP. Every question is answered, and every change decided, by one access engine.

Errors are `application/problem+json` with a `code` for programs and a `hint` for people. Lists are paged by `after`
and `next`. A create may carry an `Idempotency-Key`; a change of what has an `ETag` needs `If-Match`. What the caller
may not see answers 404, like what does not exist."""

_SECURITY_SCHEMES = {
    "token": {"type": "http", "scheme": "bearer", "description": "An API token: `lh_…`."},
    "live": {"type": "http", "scheme": "bearer", "description": "The secret of a live destination: `lhp_…`."},
    "session": {"type": "apiKey", "in": "cookie", "name": SESSION_COOKIE, "description": "The sign-in of the web app."},
}
_EXAMPLE_BY_TYPE: dict[str, object] = {"integer": 1, "number": 1.0, "boolean": True, "null": None, "object": {}}


def build_document(app: FastAPI) -> dict[str, Any]:
    """Build the document, with security, problems and examples."""
    spec = get_openapi(title=app.title, version=app.version, description=_DESCRIPTION, routes=app.routes)
    components = spec.setdefault("components", {})
    components["securitySchemes"] = _SECURITY_SCHEMES
    schemas = components.setdefault("schemas", {})
    for model in (Problem, FieldProblem, Giver):
        schema = model.model_json_schema(ref_template="#/components/schemas/{model}", mode="serialization")
        schema.pop("$defs", None)
        schemas[model.__name__] = schema
    for kind, found in registry.settings_schemas().items():
        schema = found.json_schema("#/components/schemas/{model}")
        schemas |= schema.pop("$defs", {})
        schemas[f"settings.{kind}"] = schema
    schemas.pop("HTTPValidationError", None)
    schemas.pop("ValidationError", None)
    for media in _media_types(spec):
        media.setdefault("example", example_of(media["schema"], schemas))
    return spec


def operations(document: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield every operation with its path and method."""
    for path, item in document["paths"].items():
        for method, operation in item.items():
            yield path, method, operation


def _media_types(document: Mapping[str, Any]) -> Iterator[Schema]:
    for _, _, operation in operations(document):
        for part in (operation.get("requestBody"), *operation["responses"].values()):
            for media in (part or {}).get("content", {}).values():
                if "schema" in media:
                    yield media


def example_of(schema: Schema, schemas: Mapping[str, Schema]) -> Any:  # noqa: ANN401 - any JSON
    """Compose an example of a schema from the examples of its parts."""
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
            return _EXAMPLE_BY_TYPE.get(found or "null", "…")
