"""What a form takes from the schema of its settings: controls, options, defaults, ranges and help texts."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from pydantic import TypeAdapter

Attributes = Mapping[str, Any]


@cache
def schema_fields(record: type[Any]) -> Mapping[str, Attributes]:
    """Return attributes of form fields by the path of their setting, such as `auth.kind`.

    Those of a list of records have its name before them. `is_required` says whether the setting has no default.
    """
    schema, found = TypeAdapter(record).json_schema(), dict[str, dict[str, Any]]()
    for path, each in _walk(schema, schema.get("$defs", {})):
        before = found.get(path, each)
        # Records that are told apart by a setting have different values of it, and other defaults.
        options = [*before["options"], *each["options"]] if before is not each and "options" in each else None
        found[path] = each | ({"options": options} if options else {})
        found[path] |= {"default": ""} if before.get("default") != each.get("default") else {}
    return found


def humanize(name: str) -> str:
    """Return the name of a setting or a value as a label."""
    return name.replace("_", " ").capitalize()


def default_error(label: str, attributes: Attributes) -> str:
    """Return the message if a required text is missing, or if a number is none; empty if nothing can be wrong."""
    match attributes.get("value"):
        case "number":
            return "Enter a number, such as 5 or 0.5."
        case "integer":
            least, most = attributes.get("least"), attributes.get("most")
            ranged = f"Enter a number from {least or 0} to {most}." if most else f"Enter a number of {least} or more."
            return ranged if least or most else "Enter a whole number."
    if attributes.get("options") or not (attributes.get("is_required") or attributes.get("control") == "field"):
        return ""
    verb = "Select" if attributes.get("control") == "pick" else "Enter"
    noun = label if label[:2].isupper() else label[:1].lower() + label[1:]
    return f"{verb} {'an' if label[:1] in 'AEIOU' else 'a'} {noun}."


def default_control(attributes: Attributes) -> str:
    """Return the control that fits to a value: whether it is chosen, switched, or written, and needed."""
    if attributes.get("options"):
        return "pick"
    if attributes.get("value") == "flag":
        return "toggle"
    if attributes.get("value") == "headers":
        return "optional_area"
    may_be_empty = not attributes.get("error") or attributes.get("value") in {"integer", "number"}
    is_optional = may_be_empty and attributes.get("is_required") is False and not attributes.get("default")
    return "optional" if is_optional else "line"


def _walk(schema: Attributes, named: Attributes, prefix: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for name, each in schema.get("properties", {}).items():
        types = list(_types(each, named))
        items = [one for found in types if "items" in found for one in _types(found["items"], named)]
        if records := [found for found in (*types, *items) if "properties" in found]:
            for record in records:
                yield from _walk(record, named, f"{prefix}{name}.")
        elif types:
            yield prefix + name, _attributes(each, types) | {"is_required": name in schema.get("required", ())}


def _types(schema: Attributes, named: Attributes) -> Iterator[Attributes]:
    """Yield the types that a value can have, without null."""
    if "$ref" in schema:
        yield from _types(named[schema["$ref"].rpartition("/")[2]], named)
    elif union := schema.get("anyOf") or schema.get("oneOf"):
        for each in union:
            yield from _types(each, named)
    elif schema.get("type") != "null":
        yield schema


def _attributes(schema: Attributes, types: list[Attributes]) -> dict[str, Any]:
    found: dict[str, Any] = {"hint": schema.get("description", "").replace("`", "")}
    found |= {"least": first["minimum"]} if "minimum" in (first := types[0]) else {}
    found |= {"most": first["maximum"]} if "maximum" in first else {}
    default = schema.get("default")
    if options := [one for each in types for one in each.get("enum", [each["const"]] if "const" in each else [])]:
        return {**found, "options": [[one, humanize(one)] for one in options if one], "default": default or ""}
    match first.get("type"):
        case "boolean":
            return {**found, "value": "flag", "default": "1" if default else ""}
        case "integer" | "number" as value:
            mode = "numeric" if value == "integer" else "decimal"
            return {**found, "value": value, "attrs": {"inputmode": mode}}
        case "array":
            return {**found, "value": "names"}
        case "object":
            return {**found, "value": "headers"}
        case _:
            return {**found, "default": default or ""}
