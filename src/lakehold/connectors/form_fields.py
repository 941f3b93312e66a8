"""Descriptors of forms: fields, their arrangement in cards, and their conversion to settings.

They are made from the schema of the settings, and from YAML with what a schema cannot say: order, cards, labels, hints
and when a field counts; `form.yaml` in the folder of a connector. `lakehold.web.connections` parses, checks and draws
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any

import yaml

from lakehold.connectors.form_schema import default_control, default_error, humanize, schema_fields

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
