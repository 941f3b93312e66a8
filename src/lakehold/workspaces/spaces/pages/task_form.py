"""The form of each type of task, as `task_forms.yaml` describes it: its texts turned into settings and back."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from lakehold.connectors.form_fields import FormField, FormParser, read_yaml
from lakehold.kit.settings_schema import SettingsRecord
from lakehold.web.connections.field_values import format_value, parse_value
from lakehold.web.form_tree import Texts, records
from lakehold.web.form_values import parse_integer
from lakehold.workspaces.spaces.tasks import RECORDS

_FILE = Path(__file__).parent.parent / "task_forms.yaml"
KEPT = "kept"
"""The field of the settings of a record that the form does not have, as JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordList:
    """A list of records, which can have lists themselves."""

    name: str
    title: str
    rows: Sequence["TaskFormRow"] = ()
    kinds: Mapping[str, Sequence["TaskFormRow"]] = field(default_factory=dict)
    """The rows of each kind of record, told apart by `variant_field`, if they have different ones."""
    variants: Mapping[str, str] = field(default_factory=dict)
    """The labels of the buttons that add a record, by the value of `variant_field`."""
    variant_field: str = ""
    add_label: str = "Add"
    note: str = ""
    css: str = ""
    only_for: Sequence[str] = ()

    def rows_of(self, texts: Texts) -> Sequence["TaskFormRow"]:
        """Return the rows of a record."""
        return self.kinds.get(str(texts.get(self.variant_field, "")), ()) if self.kinds else self.rows

    def counts(self, texts: Texts) -> bool:
        """Return whether the list applies, given the other values of its record."""
        return not self.only_for or texts.get(self.only_for[0]) in self.only_for[1:]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordGroup:
    """A record inside of another one."""

    name: str
    rows: Sequence["TaskFormRow"]

    def counts(self, texts: Texts) -> bool:
        """Return that it always applies."""
        del texts
        return True


TaskFormRow = FormField | RecordList | RecordGroup


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFormCard:
    """A part of the form with a title."""

    title: str
    icon: str
    rows: Sequence[TaskFormRow]
    note: str = ""


@cache
def load_form(word: str) -> tuple[TaskFormCard, ...]:
    """Return the cards of the form of a type of task."""
    described = read_yaml(_FILE)[word]["cards"]
    return tuple(TaskFormCard(**{**card, "rows": _load_rows(RECORDS[word], card["rows"])}) for card in described)


def _load_rows(record: type[SettingsRecord], described: Sequence[Mapping[str, Any]]) -> list[TaskFormRow]:
    return [_load_row(record, each) for each in described]


def _load_row(record: type[SettingsRecord], described: Mapping[str, Any]) -> TaskFormRow:
    given = dict(described)
    if "group" in given:
        name = given["group"]
        return RecordGroup(name=name, rows=_load_rows(_inner_records(record, name)[0], given["rows"]))
    if "list" not in given:
        (row,) = FormParser(record).rows([given])
        assert isinstance(row, FormField)  # noqa: S101 - it describes no group
        return row
    name, inner = given.pop("list"), _inner_records(record, described["list"])
    if kinds := given.pop("kinds", None):
        by_word = {str(get_args(get_type_hints(each)["step"])[0]): each for each in inner}
        label = {"name": "label", "label": "Label", "control": "optional", "hint": "What you call the step."}
        rows = {word: _load_rows(by_word[word], [*some, label]) for word, some in kinds.items()}
        return RecordList(name=name, kinds=rows, **given)
    return RecordList(name=name, **{**given, "rows": _load_rows(inner[0], given["rows"])})


def _inner_records(record: type[SettingsRecord], name: str) -> list[type[SettingsRecord]]:
    """Return the records that a setting has, or a list of them."""
    found = [get_type_hints(record)[name]]
    while any(get_args(each) for each in found):
        found = [inner for each in found for inner in (_members(each) or [each])]
    return [each for each in found if isinstance(each, type) and issubclass(each, SettingsRecord)]


def _members(each: object) -> list[Any]:
    """Return the types that a union, a list or an optional type is made of."""
    if get_origin(each) in {Union, UnionType, tuple}:
        return [inner for inner in get_args(each) if inner is not Ellipsis]
    return list(get_args(each))[:1]


def form_rows(word: str) -> list[TaskFormRow]:
    """Return the rows of all cards of a type of task."""
    return [row for card in load_form(word) for row in card.rows]


def fit_texts(rows: Sequence[TaskFormRow], texts: Texts) -> Texts:
    """Return submitted texts as the form has them: what no browser sends for a field, list or group is left out."""
    found = dict(texts)
    for row in rows:
        value = found.pop(row.name, None)
        if isinstance(row, RecordList):
            inner = [each for each in records(texts, row.name) if not row.kinds or row.rows_of(each)]
            found[row.name] = [fit_texts(row.rows_of(each), each) for each in inner]
        elif isinstance(row, RecordGroup):
            found[row.name] = fit_texts(row.rows, value if isinstance(value, dict) else {})
        elif isinstance(value, list if row.value == "list" else str):
            found[row.name] = value
    return found


def to_settings(rows: Sequence[TaskFormRow], texts: Texts, word: str = "", tag: str = "") -> dict[str, object]:
    """Return the settings that the texts of a record stand for."""
    found: dict[str, object] = {**_parse_kept(texts), **({tag: word} if tag else {})}
    for row in rows:
        if not row.counts(texts):
            continue
        if isinstance(row, RecordList):
            inner = [_record_settings(row, each) for each in records(texts, row.name)]
            found |= {row.name: inner} if inner else {}
        elif isinstance(row, RecordGroup):
            below = texts.get(row.name)
            found[row.name] = to_settings(row.rows, below if isinstance(below, dict) else {})
        elif row.path:
            value = _parse_field(row, texts.get(row.name, ""))
            found |= {} if value in ("", [], {}) else {row.path: value}
    return found


def _record_settings(row: RecordList, texts: Texts) -> dict[str, object]:
    kind = str(texts.get(row.variant_field, "")) if row.kinds else ""
    return to_settings(row.rows_of(texts), texts, kind, row.variant_field if kind else "")


def _parse_kept(texts: Texts) -> dict[str, object]:
    try:
        found = json.loads(str(texts.get(KEPT, "") or "{}"))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _parse_field(row: FormField, given: object) -> object:
    if row.value == "list":
        return [str(each) for each in given] if isinstance(given, list) else []
    text = given.strip() if isinstance(given, str) else ""
    if row.value == "dataset":
        task, _, dataset = text.rpartition(" ")
        return {"task": task, "dataset": dataset} if task else ""
    if row.value == "registered":
        edge, _, uid = text.partition(" ")
        return {edge: uid} if uid else ""
    return parse_value(row, text)


def to_texts(rows: Sequence[TaskFormRow], settings: Mapping[str, Any], *, is_root: bool = False) -> Texts:
    """Return the texts of a form for stored settings."""
    found: Texts = {}
    names = {row.name if not isinstance(row, FormField) else row.path for row in rows}
    for row in rows:
        stored = settings.get(row.path if isinstance(row, FormField) else row.name)
        if isinstance(row, RecordList):
            items = [each for each in stored if isinstance(each, Mapping)] if isinstance(stored, list) else []
            found[row.name] = [_record_texts(row, each) for each in items]
        elif isinstance(row, RecordGroup):
            found[row.name] = to_texts(row.rows, stored if isinstance(stored, Mapping) else {})
        elif row.path:
            found[row.name] = _format_field(row, stored)
    kept = {name: value for name, value in settings.items() if name not in names}
    return found if is_root or not kept else {**found, KEPT: json.dumps(kept)}


def _record_texts(row: RecordList, settings: Mapping[str, Any]) -> Texts:
    if row.kinds:
        word = str(settings.get(row.variant_field, ""))
        own = {name: value for name, value in settings.items() if name != row.variant_field}
        return {**to_texts(row.kinds.get(word, ()), own), row.variant_field: word}
    found = to_texts(row.rows, settings)
    if row.variants:
        # Only a transform has two ways of making a dataset: what it starts with tells which.
        found[row.variant_field] = "steps" if settings.get("start") else "sql"
    return found


def _format_field(row: FormField, stored: Any) -> object:  # noqa: ANN401 - a setting of any type
    if row.value == "list":
        return stored if isinstance(stored, list) else []
    if stored is None:
        return row.default
    if row.value == "dataset":
        return f"{stored.get('task', '')} {stored.get('dataset', '')}" if isinstance(stored, Mapping) else ""
    if row.value == "registered":
        return next((f"{edge} {uid}" for edge, uid in stored.items()), "") if isinstance(stored, Mapping) else ""
    return format_value(row, stored)


def blank_record(row: RecordList, variant: str = "") -> Texts:
    """Return the texts of a record that is added to a list."""
    chosen = {row.variant_field: variant} if row.variant_field else {}
    return {**to_texts(row.kinds.get(variant, ()) if row.kinds else row.rows, {}), **chosen}


def find_list(rows: Sequence[TaskFormRow], root: Texts, path: str) -> RecordList | None:
    """Return the list at a path such as `datasets.0.steps`; None if the form has none there."""
    name, _, rest = path.partition(".")
    row = next((each for each in rows if isinstance(each, RecordList) and each.name == name), None)
    if row is None or not rest:
        return row
    number, _, below = rest.partition(".")
    inner, place = records(root, name), parse_integer(number)
    if place is None or place >= len(inner):
        return None
    return find_list(row.rows_of(inner[place]), inner[place], below)


def walk_fields(rows: Sequence[TaskFormRow], texts: Texts, prefix: str = "") -> Iterator[tuple[str, FormField, object]]:
    """Yield all fields that the form displays, each with its path and its text."""
    for row in rows:
        if not row.counts(texts):
            continue
        if isinstance(row, RecordList):
            for n, each in enumerate(records(texts, row.name)):
                yield from walk_fields(row.rows_of(each), each, f"{prefix}{row.name}.{n}.")
        elif isinstance(row, RecordGroup):
            below = texts.get(row.name)
            inner = below if isinstance(below, dict) else {}
            yield from walk_fields(row.rows, inner, f"{prefix}{row.name}.")
        else:
            yield prefix + row.name, row, texts.get(row.name, "")


def walk_lists(rows: Sequence[TaskFormRow], texts: Texts, prefix: str = "") -> Iterator[str]:
    """Yield the paths of all lists that the form displays."""
    for row in rows:
        if isinstance(row, RecordList) and row.counts(texts):
            yield prefix + row.name
            for n, each in enumerate(records(texts, row.name)):
                yield from walk_lists(row.rows_of(each), each, f"{prefix}{row.name}.{n}.")


def missing_fields(rows: Sequence[TaskFormRow], texts: Texts) -> dict[str, str]:
    """Return the errors of fields that must be filled in and are not, and of numbers that are none."""
    found = {}
    for path, row, text in walk_fields(rows, texts):
        if row.is_required and row.control not in {"boxes", "toggle"} and not str(text).strip():
            verb = "Select" if row.control == "pick" else "Enter"
            found[path] = row.error or f"{verb} the {row.label.lower()}."
    return found


def error_place(path: str, known: Mapping[str, object]) -> str:
    """Return the field of the form that an error of this setting is displayed at; empty if it has none."""
    parts = path.split(".")
    while parts:
        if (name := ".".join(parts)) in known:
            return name
        parts.pop()
    return ""
