"""Settings of the kinds of a products project: sources, data products, destinations and workflows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, make_dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from lakehold.connectors import registry
from lakehold.connectors.settings import DestinationSettings, SourceSettings
from lakehold.kit.ids import quote
from lakehold.kit.settings_schema import (
    InvalidSettingError,
    NoSettings,
    SettingReference,
    SettingsRecord,
    SettingsSchema,
    Text,
)
from lakehold.runs.runnable import RunSettings
from lakehold.workspaces.products.attribute_types import AttributeType

PROJECT_KIND = "products.project"
SOURCE_KIND = "products.source"
PRODUCT_KIND = "products.product"
DESTINATION_KIND = "products.destination"
WORKFLOW_KIND = "products.workflow"
RECORD_TABLE_KIND = "products.record_table"
ENTITY_TABLE_KIND = "products.entity_table"

AttributeName = Annotated[str, StringConstraints(pattern=r"^[a-z](_?[a-z0-9]){0,47}$")]
"""The name of an attribute: a column of the entity table. Two underscores divide it from its parts."""
MAX_ATTRIBUTES = 100
RESERVED_NAMES = frozenset({
    *("record", "source", "source_key", "fingerprint", "recency"),
    *("entity", "records", "flags", "origins"),
})  # fmt: skip
"""Columns that the tables of every product have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LakeTableSettings(SourceSettings):
    """A table of the lake, which is read with the rights of who refreshes the source and of who has chosen it."""

    connector: Literal["lake"] = "lake"
    stream: Text
    """The SQL name of the table, such as `sales.raw.customers`."""
    keys: tuple[str, ...] = ()
    """The columns that together identify a row."""

    def __post_init__(self) -> None:
        _need_keys(self.keys)


def _need_keys(keys: Sequence[str]) -> None:
    if not [key for key in keys if key.strip()]:
        message = "The source has no key."
        raise InvalidSettingError(message, "Name the columns that together identify a row.", field="keys")
    if len(set(keys)) < len(keys):
        raise InvalidSettingError("A key column is named twice.", "Name each once.", field="keys")


def _with_stream(record: type[SourceSettings]) -> type[SourceSettings]:
    """Return the settings of a connector with the stream that is read, and its key."""

    def check(self: Any) -> None:  # noqa: ANN401 - one of them
        if check_connection := getattr(record, "__post_init__", None):
            check_connection(self)
        _need_keys(self.keys)

    added: list[tuple[str, Any, Any]] = [("stream", Text, field()), ("keys", tuple[str, ...], field(default=()))]
    merged = make_dataclass(
        record.__name__,
        added,
        bases=(record,),
        namespace={"__post_init__": check},
        frozen=True,
        slots=True,
        kw_only=True,
    )
    # There its docstrings are.
    merged.__module__ = record.__module__
    return merged


SOURCES: Mapping[str, type[SourceSettings]] = {
    "lake": LakeTableSettings,
    **{name: _with_stream(record) for name, record in registry.source_records().items() if not record.reads_volume},
}
"""The settings of a source by its connector; a project has no volumes."""


class ConsolidationRule(StrEnum):
    """The rule by which the value of an entity is chosen among those of its records."""

    MOST_FREQUENT = "most frequent"
    MOST_RECENT = "most recent"
    """That of the record with the greatest value of `recency`."""
    SOURCE_ORDER = "source order"
    """That of the first source that has one."""
    LONGEST = "longest"
    MOST_COMPLETE = "most complete record"
    """That of the record with the most values."""
    SQL = "sql"
    """An aggregate over the records of an entity, written in SQL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductAttribute(SettingsRecord):
    """An attribute of the entities of a data product."""

    name: AttributeName
    type: AttributeType = AttributeType.TEXT
    label: str = ""
    """What people read; by default its name."""
    matched: bool = True
    """Whether matching compares it."""
    rule: ConsolidationRule = ConsolidationRule.MOST_FREQUENT
    sql: str = ""
    """The aggregate of the rule `sql`, such as `max(revenue)`."""

    def __post_init__(self) -> None:
        if self.name in RESERVED_NAMES:
            hint = f"These names are taken: {', '.join(sorted(RESERVED_NAMES))}."
            raise InvalidSettingError(f"An attribute cannot be named {self.name}.", hint, field="name")
        if (self.rule is ConsolidationRule.SQL) != bool(self.sql.strip()):
            raise InvalidSettingError(
                f"The rule of {self.name} and its sql do not fit.",
                "Write an aggregate for the rule sql, and none for another rule.",
                field="sql",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceMapping(SettingsRecord):
    """A source of a data product, and which of its columns has the values of an attribute."""

    source: Text
    columns: Mapping[str, Text] = field(default_factory=dict)
    """The columns of the source, by attribute."""
    recency: str = ""
    """The column that says when a record was changed last."""
    country: Annotated[str, StringConstraints(pattern=r"^([A-Z]{2})?$")] = ""
    """The country of phone numbers and addresses that name none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchSettings(SettingsRecord):
    """Which records are the same."""

    threshold: Annotated[float, Field(ge=0.5, le=1)] = 0.95
    """The probability from which two records are the same without a question."""
    review: Annotated[float, Field(ge=0, le=1)] = 0.3
    """The probability from which curators are asked."""
    blocking: tuple[tuple[str, ...], ...] = ()
    """Columns whose values must be equal for two records to be compared, each a rule; empty to choose from the data."""
    max_pairs: Annotated[int, Field(ge=1)] = 200_000_000
    """The most pairs that are compared."""

    def __post_init__(self) -> None:
        if self.review > self.threshold:
            message = "The probability of review is above the threshold."
            raise InvalidSettingError(message, "Use a smaller one.", field="review")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSettings(SettingsRecord):
    """The reach of the records of one entity."""

    max_records: Annotated[int, Field(ge=2, le=100_000)] = 200
    """An entity with more records is split at its weakest links, and flagged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataProductSettings(SettingsRecord):
    """A data product: its attributes, its sources, and how records become entities."""

    template: str = ""
    """The template that it was made from."""
    attributes: tuple[ProductAttribute, ...] = ()
    sources: tuple[SourceMapping, ...] = ()
    match: MatchSettings = field(default_factory=MatchSettings)
    clusters: ClusterSettings = field(default_factory=ClusterSettings)

    def __post_init__(self) -> None:
        names = [each.name for each in self.attributes]
        if len(names) > MAX_ATTRIBUTES:
            hint = f"Use {MAX_ATTRIBUTES} at most."
            raise InvalidSettingError(f"The data product has {len(names)} attributes.", hint, field="attributes")
        _refuse_doubles("attribute", names, "attributes")
        _refuse_doubles("source", [each.source for each in self.sources], "sources")
        for n, mapping in enumerate(self.sources):
            for name in mapping.columns:
                if name not in names:
                    message = f"The data product has no attribute {quote(name)}."
                    hint = f"It has: {', '.join(names) or 'none'}."
                    raise InvalidSettingError(message, hint, field=f"sources.{n}.columns")


def _refuse_doubles(noun: str, names: list[str], setting: str) -> None:
    if twice := next((name for name in names if names.count(name) > 1), ""):
        message = f"The {noun} {quote(twice)} of the data product appears twice."
        raise InvalidSettingError(message, "Keep one of them.", field=setting)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowSettings(SettingsRecord):
    """A workflow: refreshes sources, runs data products, and publishes them."""

    products: tuple[Text, ...] = ()
    refresh: bool = True
    """Whether the sources of the products are refreshed first."""
    publish: bool = True
    """Whether the new versions are published."""


def _product_references(settings: DataProductSettings) -> Iterator[SettingReference]:
    for n, mapping in enumerate(settings.sources):
        yield SettingReference(f"sources.{n}.source", SOURCE_KIND, mapping.source, edge="sources")


def _workflow_references(settings: WorkflowSettings) -> Iterator[SettingReference]:
    for n, product in enumerate(settings.products):
        yield SettingReference(f"products.{n}", PRODUCT_KIND, product)


SOURCE = SettingsSchema[Any]("source", SOURCES, tag="connector", common=RunSettings)
PRODUCT = SettingsSchema[DataProductSettings](
    "data product",
    DataProductSettings,
    common=RunSettings,
    parts=("sources",),
    references=_product_references,
    edges=("sources",),
)
DESTINATION = SettingsSchema[DestinationSettings]("destination", registry.destination_records(), tag="to")
WORKFLOW = SettingsSchema[WorkflowSettings](
    "workflow", WorkflowSettings, common=RunSettings, references=_workflow_references
)
BY_KIND: Mapping[str, SettingsSchema[Any]] = {
    "project": SettingsSchema[NoSettings]("project", NoSettings, common=RunSettings),
    "source": SOURCE,
    "product": PRODUCT,
    "destination": DESTINATION,
    "workflow": WORKFLOW,
}
