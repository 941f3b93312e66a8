"""The form of a data product: its attributes and sources as nested texts, and the settings that are saved."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from starlette.datastructures import FormData

from lakehold.catalog.resource_view import ResourceView
from lakehold.web import form_tree
from lakehold.web.form_tree import Texts, records
from lakehold.workspaces.products.attribute_types import AttributeType
from lakehold.workspaces.products.mapping_suggestions import suggest_attributes, suggest_mapping
from lakehold.workspaces.products.profiles import SourceProfile
from lakehold.workspaces.products.settings import (
    RESERVED_NAMES,
    ConsolidationRule,
    DataProductSettings,
    MatchSettings,
    ProductAttribute,
)
from lakehold.workspaces.products.templates import load_templates

_DEFAULTS = MatchSettings()
BLANK_SOURCE: Texts = {"source": "", "country": "", "recency": ""}
BLANK_ATTRIBUTE: Texts = {"name": "", "label": "", "type": "text", "rule": "most frequent", "sql": "", "matched": "1"}
_NUMBERS = {"match": ("threshold", "review"), "clusters": ("max_records",)}


@dataclass(frozen=True, slots=True)
class ProductForm:
    """The values of the form."""

    name: str = ""
    description: str = ""
    version: str = ""
    texts: Texts = field(default_factory=lambda: texts_of({}))

    def settings(self, before: Mapping[str, object]) -> dict[str, object]:
        """Return the settings to save; those that the form does not have stay as they were."""
        numbers = {
            part: {
                **_record(before.get(part)),
                **{name: _number(str(self.texts[part].get(name, ""))) for name in names if self.texts[part].get(name)},
            }
            for part, names in _NUMBERS.items()
        }
        attributes = [_attribute(each) for each in records(self.texts, "attributes")]
        names = {each["name"] for each in attributes}
        return {
            **before,
            "template": self.texts.get("template", ""),
            "attributes": attributes,
            "sources": [_mapping(each, names) for each in records(self.texts, "sources")],
            **numbers,
        }


def parse_form(sent: FormData) -> ProductForm:
    """Parse a submitted form."""
    found = form_tree.parse_texts(sent)
    texts = texts_of({}) | {name: str(found.get(name, "")) for name in ("template", "new_source")}
    texts["attributes"] = [_plain(BLANK_ATTRIBUTE | {"matched": ""}, each) for each in records(found, "attributes")]
    texts["sources"] = [
        {**_plain(BLANK_SOURCE, each), "columns": {k: str(v) for k, v in _record(each.get("columns")).items()}}
        for each in records(found, "sources")
    ]
    for part in _NUMBERS:
        texts[part] = _plain(texts[part], _record(found.get(part)))
    name, description, version = (str(found.get(each, "")) for each in ("name", "description", "version"))
    return ProductForm(name, description, version, texts)


def _plain(blank: Texts, sent: Texts) -> Texts:
    """Return the fields that a record has, as texts; those that were not sent are as in a blank one."""
    return {name: str(sent.get(name, default)) for name, default in blank.items()}


def form_of(found: ResourceView) -> ProductForm:
    """Return the form of an existing data product."""
    return ProductForm(found.name, found.description, str(found.version), texts_of(found.settings or {}))


def apply_template(filled: ProductForm, name: str) -> None:
    """Replace the attributes by those of a template; sources and everything else stay."""
    template = load_templates().get(name)
    filled.texts["template"] = name if template else ""
    if template:
        filled.texts["attributes"] = [_attribute_texts(asdict(each)) for each in template.settings.attributes]


def add_source(filled: ProductForm, source: str, profile: SourceProfile) -> None:
    """Attach a source, with the columns that fit the attributes; without attributes, with one for each column."""
    if not records(filled.texts, "attributes"):
        suggested = suggest_attributes(profile)
        filled.texts["attributes"] = [_attribute_texts(asdict(each.attribute)) for each in suggested]
        columns = {each.attribute.name: each.column for each in suggested}
    else:
        attributes = [
            ProductAttribute(name=each["name"], label=each["label"], type=AttributeType(each["type"]))
            for each in map(_attribute, records(filled.texts, "attributes"))
            if each["name"] and each["name"] not in RESERVED_NAMES and each["type"] in set(AttributeType)
        ]
        columns = {each.attribute: each.column for each in suggest_mapping(attributes, profile)}
    blank = {**BLANK_SOURCE, "source": source, "columns": columns}
    form_tree.add_record(filled.texts, "sources", blank)


def texts_of(settings: Mapping[str, Any]) -> Texts:
    """Return settings as nested texts."""
    match, clusters = _record(settings.get("match")), _record(settings.get("clusters"))
    return {
        "template": settings.get("template", ""),
        "attributes": [_attribute_texts(each) for each in settings.get("attributes") or ()],
        "sources": [
            {
                "source": each.get("source", ""),
                "country": each.get("country", ""),
                "recency": each.get("recency", ""),
                "columns": dict(each.get("columns") or {}),
            }
            for each in settings.get("sources") or ()
        ],
        "match": {
            "threshold": str(match.get("threshold", _DEFAULTS.threshold)),
            "review": str(match.get("review", _DEFAULTS.review)),
        },
        "clusters": {"max_records": str(clusters.get("max_records", DataProductSettings().clusters.max_records))},
    }


def _attribute_texts(each: Mapping[str, Any]) -> Texts:
    texts = {name: str(each.get(name) or default) for name, default in BLANK_ATTRIBUTE.items()}
    return {**texts, "matched": "" if each.get("matched") is False else "1"}


def _attribute(texts: Texts) -> dict[str, Any]:
    rule = str(texts.get("rule", ""))
    return {
        "name": str(texts.get("name", "")).strip(),
        "label": str(texts.get("label", "")).strip(),
        "type": str(texts.get("type", "")),
        "rule": rule,
        "sql": str(texts.get("sql", "")) if rule == ConsolidationRule.SQL else "",
        "matched": bool(texts.get("matched")),
    }


def _mapping(texts: Texts, names: set[str]) -> dict[str, Any]:
    columns = _record(texts.get("columns"))
    return {
        "source": str(texts.get("source", "")),
        "columns": {name: column for name, column in columns.items() if column and name in names},
        "recency": str(texts.get("recency", "")),
        "country": str(texts.get("country", "")).strip().upper(),
    }


def _number(text: str) -> object:
    """Return a text as a number; as it is if it is none, so that it is refused with its name."""
    try:
        return int(text) if text.isdigit() else float(text)
    except ValueError:
        return text


def _record(value: object) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}
