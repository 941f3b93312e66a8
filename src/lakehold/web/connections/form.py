"""The values of a form that descriptors describe: parsed, checked, and turned into settings and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from starlette.datastructures import FormData

from lakehold.catalog.resource_view import ResourceView
from lakehold.connectors.form_fields import (
    ConnectionFields,
    Facts,
    FieldGroup,
    FieldList,
    FormCard,
    FormField,
    FormParser,
    FormRow,
    all_fields,
    read_yaml,
)
from lakehold.connectors.registry import all_connectors
from lakehold.connectors.settings import DestinationSettings
from lakehold.kit.settings_schema import SettingsRecord
from lakehold.web.connections import field_values
from lakehold.web.connections.field_values import Record
from lakehold.web.form_values import row_settings


@dataclass(frozen=True, slots=True)
class FormType:
    """A type of connection: its label, and all cards of its form."""

    word: str
    label: str
    hint: str
    icon: str
    fields: ConnectionFields
    cards: Sequence[FormCard] = ()
    is_tested: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class FormDesign:
    """The form of a kind of resource: its types, its texts, and settings that it does not ask for."""

    choice: str = ""
    """The setting that says which type it is; empty if the kind says it."""
    choice_label: str = ""
    note: str = ""
    create_label: str = ""
    css: str = "form connection"
    tests_first: bool = True
    """Whether it is tested before it is saved, unless somebody saves it without."""
    types: Mapping[str, FormType]
    constants: Mapping[str, object] = field(default_factory=dict)
    """Settings that are always saved."""
    forgets: Sequence[str] = ()
    """Settings that are left out."""

    omit_empty: bool = True
    """Whether empty settings are left out, so that the defaults of the schema apply."""

    def options_of(self, word: str, name: str) -> Sequence[Sequence[str]]:
        """Return the options of a field of a type."""
        return next(each.options for each in self.fields_of(word) if each.name == name)

    def fields_of(self, word: str) -> list[FormField]:
        """Return the fields of all cards of a type, without those of lists."""
        return list(all_fields(self._rows(word)))

    def lists_of(self, word: str) -> list[FieldList]:
        """Return the lists of records of a type."""
        return [each for each in self._rows(word) if isinstance(each, FieldList)]

    def _rows(self, word: str) -> list[FormRow]:
        return [row for card in self.types[word].cards for row in card.rows] if word in self.types else []

    def blank(self, word: str, **given: str) -> ResourceForm:
        """Return an empty form of a type."""
        known = word if word in self.types else ""
        return self._from_settings(known, {}, given, {name: [text] for name, text in given.items() if text})

    def parse(self, sent: FormData, before: Mapping[str, Any] | None = None, word: str = "") -> ResourceForm:
        """Parse a submitted form for a resource with these settings. The word applies if no type is chosen."""
        given = str(sent.get(self.choice, word))
        word = given if given in self.types else ""
        fields = self.fields_of(word)
        texts = {each.name: field_values.parse_text(each, sent) for each in fields}
        ends = {each.name: [str(one) for one in sent.getlist(each.name) if one] for each in fields if each.edge}
        lists = {each.setting: field_values.parse_list(each, sent) for each in self.lists_of(word)}
        return ResourceForm(self, word, {"version": str(sent.get("version", "")), **texts}, ends, lists, before or {})

    def from_resource(self, found: ResourceView, word: str = "") -> ResourceForm:
        """Return the form of an existing resource. The word applies if it has no type yet."""
        settings = found.settings or {}
        chosen = str(settings.get(self.choice, "")) or word
        about = {"name": found.name, "description": found.description, "version": str(found.version)}
        ends = {
            each.name: [end.uid for end in found.edges.get(each.edge, ()) if each.end_kind in ("", end.kind)]
            for each in self.fields_of(chosen)
            if each.edge
        }
        about |= {name: next(iter(uids), "") for name, uids in ends.items()}
        return self._from_settings(chosen if chosen in self.types else "", settings, about, ends)

    def _from_settings(
        self, word: str, settings: Mapping[str, Any], given: Record, ends: Mapping[str, Sequence[str]]
    ) -> ResourceForm:
        split = self.types[word].fields.to_texts(settings) if word else {}
        texts = {**field_values.texts_of(self.fields_of(word), settings), **split, **given}
        lists = {
            each.setting: [field_values.texts_of(each.fields, one) for one in row_settings(settings, each.setting)]
            for each in self.lists_of(word)
        }
        return ResourceForm(self, word, texts, ends, lists, settings)


@dataclass(frozen=True, slots=True)
class ResourceForm:
    """The values of a form."""

    design: FormDesign
    word: str = ""
    """Its type; empty if it is to be chosen first."""
    texts: Record = field(default_factory=dict)
    ends: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The chosen ends of edges, by field."""
    lists: Mapping[str, Sequence[Record]] = field(default_factory=dict)
    """The records of lists, by setting."""
    before: Mapping[str, Any] = field(default_factory=dict)
    """The settings of the existing resource."""
    labels: Record = field(default_factory=dict)
    """What chosen resources are called, by field."""

    def text(self, name: str) -> str:
        """Return the text of a field, or an empty string."""
        return self.texts.get(name, "")

    @property
    def name(self) -> str:
        """The name of the resource."""
        return self.text("name")

    @property
    def fields(self) -> list[FormField]:
        """The fields that apply, given the values of the others, without those of lists."""
        return [each for each in self.design.fields_of(self.word) if each.counts(self.texts)]

    @property
    def credential(self) -> str:
        """The name of the secret that it needs; empty if it needs none."""
        return next((each.credential_of(self.texts) for each in self.fields if each.control == "secret"), "")

    def is_open(
        self, group: FieldGroup, texts: Record, errors: Mapping[str, str], prefix: str, number: int | None
    ) -> bool:
        """Return whether a folded group of fields is to be open: something is filled in or wrong."""
        ending = "" if number is None else f"-{number}"
        return any(
            texts.get(each.name, each.default) != each.default or f"{prefix}{each.name}{ending}" in errors
            for each in all_fields(group.rows)
        )

    def label_of(self, name: str) -> str:
        """Return the label of a chosen option."""
        known = {option[0]: option[1] for option in self.design.options_of(self.word, name)}
        return self.labels.get(name) or known.get(self.text(name), self.text(name))

    def add_record(self) -> ResourceForm:
        """Return the form with one more record in its list."""
        added = {
            each.setting: [*self.lists[each.setting], dict.fromkeys((one.name for one in each.fields), "")]
            for each in self.design.lists_of(self.word)
        }
        return replace(self, lists=added)

    def edges(self) -> dict[str, list[str]]:
        """Return the chosen ends by edge; an edge of which none is chosen stays as it is."""
        found = {each.edge: list(self.ends.get(each.name, ())) for each in self.fields if each.edge}
        many = {each.edge for each in self.fields if each.control == "boxes"}
        return {edge: ends for edge, ends in found.items() if ends or edge in many}

    def settings(self) -> dict[str, object]:
        """Return the settings to save. Those that the form does not have stay unchanged."""
        settings: dict[str, Any] = deepcopy(dict(self.before))
        for name in {*self.design.forgets, *self._settings_of_another_type()}:
            settings.pop(name, None)
        settings |= {self.design.choice: self.word} if self.design.choice else {}
        fields, omit_empty = self.design.fields_of(self.word), self.design.omit_empty
        field_values.write_settings(settings, fields, self.texts, omit_empty=omit_empty)
        for each in self.design.lists_of(self.word):
            known = {str(one.get(each.key)): one for one in row_settings(self.before, each.setting)}
            records = [deepcopy(dict(known.get(one[each.key], {}))) for one in self.lists[each.setting]]
            for record, texts in zip(records, self.lists[each.setting], strict=True):
                field_values.write_settings(record, each.fields, texts)
            settings[each.setting] = records
        joined = self.design.types[self.word].fields.to_settings(self.texts) if self.word else {}
        return {**settings, **joined, **self.design.constants}

    def errors(self, *, has_secret: bool) -> dict[str, str]:
        """Return the errors by field."""
        found = field_values.field_errors(self.fields, self.texts)
        for each in self.fields:
            if each.control == "secret" and each.error and self.credential and not has_secret:
                found[each.name] = each.error.format(self.credential)
        for one in self.design.lists_of(self.word):
            found |= field_values.list_errors(one, self.lists[one.setting])
        return found

    def describe(self, secrets: Sequence[str], title: str = "") -> Facts:
        """Describe the connection of a resource that has these secrets, its type under the title."""
        if not self.word:
            return []
        hidden = [(name.capitalize(), "Saved (hidden)") for name in secrets]
        offered = self.design.types[self.word]
        return [*([(title, offered.label)] if title else []), *offered.fields.describe(self, hidden)]

    def setting_facts(self) -> Facts:
        """Return labels and values of all settings that are filled in, and how many records its lists have."""
        filled = (each for each in self.fields if (each.path or each.name in self.labels) and self.text(each.name))
        facts = [(each.label, "Yes" if each.control == "toggle" else self.label_of(each.name)) for each in filled]
        return facts + [
            (f"{each.title}s", f"{len(self.lists[each.setting]):,}") for each in self.design.lists_of(self.word)
        ]

    def error_places(self) -> dict[str, str]:
        """Return the form fields by setting and by error code."""
        places: dict[str, str] = {}
        for each in self.fields:
            names = each.credential if isinstance(each.credential, str) else each.credential.values()
            secrets = (names,) if isinstance(names, str) else tuple(names)
            places |= dict.fromkeys((each.path or (each.edge and each.name), *each.errors_of, *secrets), each.name)
        for one in self.design.lists_of(self.word):
            places |= {f"{one.setting}.{each.path}": f"{one.prefix}{each.name}-{{}}" for each in one.fields}
        for path, name in list(places.items()):
            parents = path.split(".")[:-1]
            for n in range(len(parents)):
                places.setdefault(".".join(parents[: n + 1]), name)
        return {path: name for path, name in places.items() if path}

    def _settings_of_another_type(self) -> set[str]:
        """Return the settings of the type that the resource had before, if it gets another one."""
        before = str(self.before.get(self.design.choice, ""))
        return set() if before in ("", self.word) else self._names(before) - self._names(self.word)

    def _names(self, word: str) -> set[str]:
        names = {each.path.partition(".")[0] for each in self.design.fields_of(word)}
        return names | {each.setting for each in self.design.lists_of(word)}


def load_design(
    file: Path,
    name: str,
    records: Mapping[str, type[SettingsRecord]],
    beside: type[SettingsRecord] | None = None,
) -> FormDesign:
    """Return the design of a form for settings of these types, as a YAML file describes it.

    A type without cards is a connector, whose form is taken. `beside` has the settings of the other cards, if not the
    type itself.
    """
    described = read_yaml(file)[name]
    before, after = [{"title": "About", "icon": "info", **described.pop("about")}], described.pop("after", ())
    example, changes = described.pop("example", ""), described.pop("fields", {})
    own_template, offered = described.pop("own_template", False), described.pop("types", {})
    types = {}
    for word, record in records.items():
        each = offered.get(word, {})
        found = _load_type(word, record, each)
        fields, name_example = found.fields, each.get("example") or found.fields.example or example
        parser = FormParser(record, {"name": {"placeholder": name_example}, "stream": fields.stream, **changes})
        outer = replace(parser, record=beside or record)
        cards, first, last = parser.cards(fields.cards), outer.cards(before), outer.cards(after)
        if not own_template:
            around = list(all_fields([row for card in (*first, *last) for row in card.rows]))
            inside = list(all_fields([row for card in cards for row in card.rows]))
            known = [each.path for each in (*inside, *(() if beside else around))]
            taken = ["version", "secret", "kept", "do", *(each.name for each in (*around, *inside))]
            others = parser.other_rows([*known, *fields.excluded, described.get("choice", "")], taken)
            cards = _add_rows(found, cards, others)
        types[word] = replace(found, cards=[*first, *cards, *last])
    return FormDesign(types=types, **described)


def _load_type(word: str, record: type[SettingsRecord], described: Mapping[str, Any]) -> FormType:
    """Return a type that has cards of its own, or that is a connector."""
    if "cards" in described or word not in all_connectors():
        fields, texts = ConnectionFields(cards=described.get("cards", ())), ("", "", "")
    else:
        connector, side = all_connectors()[word], "destination" if issubclass(record, DestinationSettings) else "source"
        fields, hint = getattr(connector, f"{side}_form") or ConnectionFields(), getattr(connector, f"{side}_hint")
        texts = (fields.label or connector.label, hint, connector.icon)
    if note := described.get("note"):
        fields = replace(fields, cards=[{**card, "note": note} for card in fields.cards])
    label, hint, icon = map(described.get, ("label", "hint", "icon"), texts)
    return FormType(word, label, hint, icon, fields, is_tested=described.get("is_tested", True))


def _add_rows(offered: FormType, cards: list[FormCard], rows: Sequence[FormRow]) -> list[FormCard]:
    """Return the cards with further rows: folded at the end of the first one, or as the only card."""
    if not cards:
        return [FormCard(offered.label, offered.icon, rows)] if rows else []
    folded = [FieldGroup(rows, "form", "More settings")] if rows else []
    return [replace(cards[0], rows=[*cards[0].rows, *folded]), *cards[1:]]
