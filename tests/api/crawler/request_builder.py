"""Builds requests for any operation from its schema. Nothing here knows an endpoint by name."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Schema = Mapping[str, Any]

_MODEL = "model: {word}\nextends: [tenant]\nkinds:\n  {word}:\n    in: tenant\n    actions: [see]\n    allow: []\n"
_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class ValuePool:
    """The values that requests are filled with."""

    hidden: Sequence[str]
    """Ids that the caller may not see, of their own tenant and of the other one."""
    visible: Sequence[str]
    hidden_names: Sequence[str]
    kinds: Sequence[str]
    actions: Sequence[str]
    roles: Sequence[str]
    attributes: Sequence[str]
    edges: Sequence[str]
    of_kind: Mapping[str, Sequence[str]]
    """What the caller may see, by the name of its kind: a place called `member` is mostly filled with a member."""


@dataclass(slots=True)
class BuiltRequest:
    """One request."""

    method: str
    path: str
    template: str
    places: dict[str, str] = field(default_factory=dict)
    """What its path was filled with."""
    query: dict[str, Any] = field(default_factory=dict)
    body: Any = None

    def texts(self) -> str:
        """All that was sent, in one text."""
        return f"{self.path} {self.query} {self.body}".lower()


class RequestBuilder:
    """Builds the requests of one OpenAPI document."""

    def __init__(self, document: Mapping[str, Any], rng: random.Random) -> None:
        self._schemas = document["components"]["schemas"]
        self._rng = rng

    def request(self, path: str, method: str, operation: Mapping[str, Any], pool: ValuePool) -> BuiltRequest:
        """A request for this operation."""
        sent = BuiltRequest(method.upper(), path, path)
        for parameter in operation.get("parameters", ()):
            name, place = parameter["name"], parameter["in"]
            if place == "path":
                sent.places[name] = str(self.value(parameter["schema"], name, pool))
            elif place == "query" and (parameter.get("required") or self._rng.random() < 0.4):
                found = self.value(parameter["schema"], name, pool)
                if found is not None:
                    sent.query[name] = found
        sent.path = fill_path(path, sent.places)
        body = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if body:
            sent.body = self.value(body["schema"], "", pool)
        return sent

    def value(self, schema: Schema, name: str, pool: ValuePool, depth: int = 0) -> Any:  # noqa: ANN401 - any JSON
        """A value that fits the schema, as far as schemas can tell."""
        rng = self._rng
        if "$ref" in schema:
            return self.value(self._schemas[schema["$ref"].rpartition("/")[2]], name, pool, depth)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return rng.choice(schema["enum"])
        for choice in ("anyOf", "oneOf", "allOf"):
            if choice in schema:
                return self.value(self._chosen(schema[choice], depth), name, pool, depth)
        match schema.get("type"):
            case "object":
                return self._object(schema, pool, depth)
            case "array":
                most = min(schema.get("maxItems", 2), 2)
                count = max(schema.get("minItems", 0), rng.randint(0, most) if depth < _DEEPEST else 0)
                return [self.value(schema.get("items", {}), name, pool, depth + 1) for _ in range(count)]
            case "integer" | "number":
                return rng.randint(int(schema.get("minimum", 1)), int(min(schema.get("maximum", 200), 200)))
            case "boolean":
                return rng.random() < 0.5
            case "null":
                return None
            case _:
                return self._text(schema, name, pool)

    def _chosen(self, schemas: Sequence[Schema], depth: int) -> Schema:
        something = [schema for schema in schemas if schema.get("type") != "null"]
        nothing = [schema for schema in schemas if schema.get("type") == "null"]
        if nothing and (depth > _DEEPEST or self._rng.random() < 0.3):
            return nothing[0]
        return self._rng.choice(something)

    def _object(self, schema: Schema, pool: ValuePool, depth: int) -> dict[str, Any]:
        required = set(schema.get("required", ()))
        found = {
            name: self.value(part, name, pool, depth + 1)
            for name, part in schema.get("properties", {}).items()
            if name in required or (depth < _DEEPEST and self._rng.random() < 0.5)
        }
        more = schema.get("additionalProperties")
        if not found and isinstance(more, Mapping) and self._rng.random() < 0.5:
            key = self._rng.choice([*pool.edges, *pool.attributes])
            found[key] = self.value(more, "id", pool, depth + 1)
        return found

    def _text(self, schema: Schema, name: str, pool: ValuePool) -> str:
        rng = self._rng
        if schema.get("format") == "date-time":
            return rng.choice(["2031-05-04T10:30:00Z", "2001-01-01T00:00:00Z"])
        if schema.get("format") == "email" or "email" in name:
            return f"{rng.choice(pool.visible)}@example.org"
        words = {
            "kind": pool.kinds, "kinds": pool.kinds, "type": pool.kinds, "action": pool.actions,
            "actions": pool.actions, "role": pool.roles, "roles": pool.roles, "edge": pool.edges,
            "attribute": pool.attributes, "search": pool.hidden_names, "q": pool.hidden_names,
        }  # fmt: skip
        if name == "source" and schema.get("maxLength", 0) > 10_000:
            return _MODEL.format(word=rng.choice(pool.visible))
        if words.get(name):
            return str(rng.choice(words[name]))
        if name == "name":
            return str(rng.choice([*pool.roles, *pool.attributes, *pool.edges, *pool.actions, *pool.visible]))
        if pool.of_kind.get(name) and rng.random() < 0.6:
            return str(rng.choice(pool.of_kind[name]))
        if schema.get("examples") and rng.random() < 0.05:
            return str(schema["examples"][0])
        return str(rng.choice(pool.hidden if pool.hidden and rng.random() < 0.6 else pool.visible))


def fill_path(path: str, places: Mapping[str, str]) -> str:
    """Return the path with its parameters filled in."""
    return re.sub(r"\{([^}:]+)(?::[^}]*)?\}", lambda found: places.get(found[1], "x"), path)


def numbers(found: object) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    """Every whole number in an answer, with its name and what it stands beside."""
    if isinstance(found, Mapping):
        for name, value in found.items():
            if type(value) is int:
                yield name, value, found
            yield from numbers(value)
    elif isinstance(found, list):
        for each in found:
            yield from numbers(each)
