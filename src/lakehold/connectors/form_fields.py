"""Descriptors of forms: fields, their arrangement in cards, and their conversion to settings.

They are read from YAML, `form.yaml` in the folder of a connector: a new connector brings its form along.
`lakehold.web.connections` parses, checks and draws them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

Facts = list[tuple[str, str]]
"""Labels and values, as a page displays them."""


@dataclass(frozen=True, slots=True)
class FormField:
    """One field of a form: its setting, its display and its validation."""

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
    """What the text is: `text`, `names`, `headers`, `pairs`, `flag`, `integer`, `count` (of zero or more), `number` or
    `folder`.
    """
    default: str = ""
    setting: str | None = None
    """The path of its setting; by default its name, empty for none."""
    omit_empty: bool = False
    is_tag: bool = False
    """Whether it says what its record is: with another value, the rest of the record is forgotten."""
    edge: str = ""
    """The edge whose ends it chooses, instead of a setting."""
    end_kind: str = ""
    """The kind of those ends, where the edge has ends of several kinds."""
    error: str = ""
    """The message if the text is missing or wrong; that of a secret has a place for its name."""
    pattern: str = ""
    most: float = float("inf")
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

    rows: Sequence[FormField | FieldGroup | FieldList]
    css: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldList:
    """A list of records with the same fields, whose names in the form have a prefix."""

    setting: str
    prefix: str
    title: str
    add_label: str
    rows: Sequence[FormField | FieldGroup | FieldList]
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


@dataclass(frozen=True, slots=True)
class FormCard:
    """A part of a form with a title; or with a text, if there is nothing to fill in."""

    title: str = ""
    icon: str = ""
    rows: Sequence[FormField | FieldGroup | FieldList] = ()
    note: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionFields:
    """The part of a form that is specific to a connector or another type of connection."""

    cards: Sequence[FormCard]
    example: str = ""
    """A name that such a resource could have."""
    to_texts: Callable[[Mapping[str, Any]], dict[str, str]] = lambda _settings: {}
    """Splits settings that are filled in by several fields."""
    to_settings: Callable[[Mapping[str, str]], dict[str, object]] = lambda _texts: {}
    """Joins them again."""
    describe: Callable[[Any, Facts], Facts] = lambda _form, secrets: secrets
    """Describes the connection for its page, given the form's values, and the secrets as facts."""


def load_fields(file: Path, part: str, **hooks: Any) -> ConnectionFields:  # noqa: ANN401 - as the class has them
    """Return the fields that a part of a YAML file describes."""
    described = read_yaml(file)[part]
    return ConnectionFields(cards=parse_cards(described["cards"]), example=described.get("example", ""), **hooks)


def read_yaml(file: Path) -> dict[str, Any]:
    """Return the descriptors in a YAML file."""
    found: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return found


def parse_cards(described: Sequence[Mapping[str, Any]]) -> list[FormCard]:
    """Return cards from their descriptors."""
    return [FormCard(**{**each, "rows": parse_rows(each.get("rows", ()))}) for each in described]


def parse_rows(described: Sequence[Mapping[str, Any]]) -> list[FormField | FieldGroup | FieldList]:
    """Return fields, groups and lists from their descriptors."""
    return [_row(each) for each in described]


def all_fields(rows: Sequence[FormField | FieldGroup | FieldList]) -> Iterator[FormField]:
    """Yield the fields of rows, without those of lists."""
    for each in rows:
        if isinstance(each, FormField):
            yield each
        elif isinstance(each, FieldGroup):
            yield from all_fields(each.rows)


def adapt_cards(cards: Sequence[FormCard], changes: Mapping[str, Mapping[str, Any] | None]) -> list[FormCard]:
    """Return cards with changed attributes of fields, by their names. A field without attributes is left out."""
    return [replace(each, rows=_adapt(each.rows, changes)) for each in cards]


def _row(described: Mapping[str, Any]) -> FormField | FieldGroup | FieldList:
    if not isinstance(described.get("rows"), list):
        return FormField(**described)
    made = FieldList if "key" in described else FieldGroup
    return made(**{**described, "rows": parse_rows(described["rows"])})


def _adapt(rows: Sequence[Any], changes: Mapping[str, Mapping[str, Any] | None]) -> list[Any]:
    return [
        replace(each, **(changes.get(each.name) or {}))
        if isinstance(each, FormField)
        else each
        if isinstance(each, FieldList)
        else replace(each, rows=_adapt(each.rows, changes))
        for each in rows
        if not isinstance(each, FormField) or changes.get(each.name, {}) is not None
    ]
