"""Descriptors of forms: fields, their arrangement in cards, and their conversion to settings.

They are made from the schema of the settings, and from YAML with what a schema cannot say: order, cards, labels, hints
and when a field counts; `form.yaml` in the folder of a connector. `lakehold.web.connections` parses, checks and draws
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from lakehold.kit.settings_schema import adapter_of

Attributes = Mapping[str, Any]


@cache
def schema_fields(record: type[Any]) -> Mapping[str, Attributes]:
    """Return attributes of form fields by the path of their setting, such as `auth.kind`.

    Those of a list of records have its name before them. `is_required` says whether the setting has no default.
    """
    schema, found = adapter_of(record).json_schema(), dict[str, dict[str, Any]]()
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
        words = [str(one) for one in options if one]
        return {**found, "options": [[one, humanize(one)] for one in words], "default": str(default or "")}
    match first.get("type"):
        case "boolean":
            return {**found, "value": "flag", "default": "1" if default else ""}
        case "integer" | "number" as value:
            mode = "numeric" if value == "integer" else "decimal"
            return {**found, "value": value, "attrs": {"inputmode": mode}}
        case "array" | "object" as value:
            return {**found, "value": "names" if value == "array" else "headers"}
        case _:
            return {**found, "default": default or ""}


Facts = list[tuple[str, str]]
"""Labels and values, as a page displays them."""


@dataclass(frozen=True, slots=True)
class FormField:
    """One field of a form: its setting, how it is drawn, and when it is wrong.

    What is not given is taken from the schema: label, control, hint, options, value, default, least, most and error.
    """

    name: str
    label: str = ""
    control: str = "line"
    """`line` (needed where it is displayed), `field` (always needed), `optional`, `area`, `optional_area`, `pick`,
    `choices`, `toggle`, `secret`, `boxes`, `sql` or `hidden`.
    """
    _: KW_ONLY
    hint: str = ""
    placeholder: str = ""
    type: str = "text"
    rows: int = 2
    attrs: Mapping[str, str] = field(default_factory=dict)
    css: str = ""
    options: Sequence[Sequence[str]] = ()
    """Values and labels; without any, the page offers some."""
    no_options: str = ""
    """The hint if the page has none to offer."""
    value: str = "text"
    """What the text is: `text`, `names`, `headers`, `pairs`, `flag`, `integer`, `number` or `folder`."""
    default: str = ""
    setting: str | None = None
    """The path of its setting; by default its name, empty for none."""
    omit_empty: bool = False
    """Whether its setting is left out if it is empty, though the form stores empty settings."""
    is_tag: bool = False
    """Whether it says what its record is: with another value, the rest of the record is forgotten."""
    edge: str = ""
    """The edge whose ends it chooses, instead of a setting."""
    end_kind: str = ""
    """The kind of those ends, where the edge has ends of several kinds."""
    error: str = ""
    """The message if the text is missing or wrong; that of a secret has a place for its name."""
    pattern: str = ""
    least: float = 1
    most: float = float("inf")
    is_required: bool | None = None
    """Whether its setting has no default; None if it has no setting."""
    only_for: Sequence[str] = ()
    """Another field and its values, with which alone this one counts."""
    checked_for: Sequence[str] = ()
    """Another field and its values, with which alone this one must be right."""
    errors_of: Sequence[str] = ()
    """Further settings, and error codes, whose errors are displayed here."""
    credential: str | Mapping[str, str] = ""
    """The name of the secret, or the names by the value of the field in `only_for`."""

    @property
    def path(self) -> str:
        """The path of its setting; empty if it has none."""
        if self.setting is None:
            return "" if self.edge or self.control == "secret" else self.name
        return self.setting

    def counts(self, texts: Mapping[str, str]) -> bool:
        """Return whether the field applies, given the other values."""
        return not self.only_for or texts.get(self.only_for[0], "") in self.only_for[1:]

    def credential_of(self, texts: Mapping[str, str]) -> str:
        """Return the name of its secret, given the other values; empty if it has none."""
        if isinstance(self.credential, str):
            return self.credential
        return self.credential.get(texts.get(self.only_for[0], ""), "")


@dataclass(frozen=True, slots=True)
class FieldGroup:
    """Fields that are displayed together; with a title, they are collapsed until they are needed."""

    rows: Sequence[FormRow]
    css: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldList:
    """A list of records with the same fields, whose names in the form have a prefix."""

    setting: str
    prefix: str
    title: str
    add_label: str
    rows: Sequence[FormRow]
    key: str
    """The field that each record is known by. Settings that the form does not have are kept by it."""
    most: int
    error: Sequence[str] = ()
    """The field and the message if there are none; empty if there may be none."""
    key_error: str
    """The message if two have the same key."""

    @property
    def fields(self) -> list[FormField]:
        """The fields of one record."""
        return list(all_fields(self.rows))


FormRow = FormField | FieldGroup | FieldList


@dataclass(frozen=True, slots=True)
class FormCard:
    """A part of a form with a title; or with a text, if there is nothing to fill in."""

    title: str = ""
    icon: str = ""
    rows: Sequence[FormRow] = ()
    note: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionFields:
    """The part of a form that is specific to a connector or another type of connection, as YAML describes it."""

    cards: Sequence[Mapping[str, Any]] = ()
    """Without any, one card has all settings."""
    label: str = ""
    """What it is called, if not as its connector."""
    example: str = ""
    """A name that such a resource could have."""
    stream: Mapping[str, str] = field(default_factory=dict)
    """Hint and placeholder of a field that names one of its streams."""
    excluded: Sequence[str] = ()
    """Settings that the form does not have. Others that the cards do not mention are folded at the end."""
    to_texts: Callable[[Mapping[str, Any]], dict[str, str]] = lambda _settings: {}
    """Splits settings that are filled in by several fields."""
    to_settings: Callable[[Mapping[str, str]], dict[str, object]] = lambda _texts: {}
    """Joins them again."""
    describe: Callable[[Any, Facts], Facts] = lambda form, secrets: [*form.setting_facts(), *secrets]
    """Describes the connection for its page, given the form's values, and the secrets as facts."""


def load_fields(module: str, part: str, **hooks: Any) -> ConnectionFields:  # noqa: ANN401 - as the class has them
    """Return the fields that a part of `form.yaml` beside a module describes."""
    return ConnectionFields(**read_yaml(Path(module).with_name("form.yaml"))[part], **hooks)


def read_yaml(file: Path) -> dict[str, Any]:
    """Return the descriptors in a YAML file."""
    found: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return found


@dataclass(frozen=True, slots=True)
class FormParser:
    """Makes fields from their descriptors and from the schema of a record."""

    record: Any
    changes: Mapping[str, Mapping[str, Any] | None] = field(default_factory=dict)
    """Other attributes of fields, by their names. A field without attributes is left out."""

    def cards(self, described: Sequence[Mapping[str, Any]]) -> list[FormCard]:
        """Return cards from their descriptors."""
        return [FormCard(**{**each, "rows": self.rows(each.get("rows", ()))}) for each in described]

    def rows(self, described: Sequence[Mapping[str, Any]], prefix: str = "") -> list[FormRow]:
        """Return fields, groups and lists from their descriptors. The prefix is the list that they belong to."""
        return [self._row(each, prefix) for each in described if self.changes.get(each.get("name", ""), {}) is not None]

    def other_rows(self, known: Sequence[str], taken: Sequence[str]) -> list[FormRow]:
        """Return fields for all settings but those that are known. A name that is taken gets an ending."""
        others = [path for path in schema_fields(self.record) if path not in known and "." not in path]
        names = {path: f"{path}_setting" if path in taken else path for path in others}
        return self.rows([{"name": name, "setting": path, "label": humanize(path)} for path, name in names.items()])

    def _row(self, described: Mapping[str, Any], prefix: str) -> FormRow:
        if "key" in described:
            return FieldList(**{**described, "rows": self.rows(described["rows"], f"{described['setting']}.")})
        if isinstance(described.get("rows"), list):
            return FieldGroup(**{**described, "rows": self.rows(described["rows"], prefix)})
        given = {**described, **((not prefix and self.changes.get(described["name"])) or {})}
        has_setting = not given.get("edge") and given.get("control") != "secret"
        path = given.get("setting", given["name"]) if has_setting else ""
        found = {**schema_fields(self.record).get(prefix + path, {}), **given}
        found.setdefault("label", humanize(found["name"]))
        found.setdefault("error", default_error(found["label"], found))
        found.setdefault("control", default_control(found))
        return FormField(**found)


def all_fields(rows: Sequence[FormRow]) -> Iterator[FormField]:
    """Yield the fields of rows, without those of lists."""
    for each in rows:
        if isinstance(each, FormField):
            yield each
        elif isinstance(each, FieldGroup):
            yield from all_fields(each.rows)
