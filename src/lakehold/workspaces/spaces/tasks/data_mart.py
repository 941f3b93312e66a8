"""Settings of a data mart task: dimensions, facts that refer to them, and flat views of both for consumers.

Each of the three is a dataset of the task. Names of columns are compared without regard to case, as SQL does.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar, Literal, NoReturn

from lakehold.kit.settings_schema import InvalidSettingError, SettingsRecord, TableName, Text
from lakehold.workspaces.spaces.tasks.base import DatasetName, DatasetReference, TaskSettings, used_tasks

StarRole = Literal["dimension", "fact", "view"]
CHANGED_AT, IS_DELETED = "changed_at", "is_deleted"
VALID_FROM, VALID_TO, IS_CURRENT = "valid_from", "valid_to", "is_current"
RESERVED = frozenset({CHANGED_AT, IS_DELETED, VALID_FROM, VALID_TO, IS_CURRENT, "surrogate_key"})
"""Columns of the platform, which are not taken from a source. A storage's history has some of them."""
_VERSIONS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class StarColumn(SettingsRecord):
    """A column of a dimension."""

    column: Text
    """Its name in the source."""
    history: Literal[1, 2] | None = None
    """1: the newest value is in all versions; 2: a change makes a version. Without one, that of the dimension."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StarDimension(SettingsRecord):
    """A dimension of a data mart."""

    name: DatasetName
    source: DatasetReference
    """The dataset whose rows it has."""
    business_key: tuple[Text, ...]
    """The columns by which the source tells one member from another."""
    history: Literal[1, 2] = 1
    """1: one row for each member, as it is now; 2: one row for each version of it."""
    columns: tuple[StarColumn, ...] = ()
    """The columns beside the business key; without any, all but those that a history adds."""
    at: str = ""
    """The column that says when a row became true; without one, it is when a run first reads it."""
    closes_missing: bool = True
    """Whether the source has all members: one that is missing is deleted."""

    def __post_init__(self) -> None:
        if not self.business_key:
            _refuse(f"The dimension {self.name} has no business key.", "Name its columns.", "business_key")
        own = (*RESERVED, self.key_column)
        _refuse_taken(self.business_key, own, "business_key")
        _refuse_taken(filter(None, [self.at]), self.business_key, "at")
        for at, each in enumerate(self.columns):
            before = (other.column for other in self.columns[:at])
            _refuse_taken([each.column], (*own, *self.business_key, *before), f"columns.{at}.column")
            if each.history == _VERSIONS and not self.has_versions:
                message = f"The dimension {self.name} keeps no versions."
                _refuse(message, "Set its history to 2, or that of the column to 1.", f"columns.{at}.history")
        if self.has_versions and self.columns and all(each.history == 1 for each in self.columns):
            message = f"No column of the dimension {self.name} makes a version."
            _refuse(message, "Set the history of one to 2, or that of the dimension to 1.", "columns")

    @property
    def has_versions(self) -> bool:
        """Whether it has one row for each version of a member."""
        return self.history == _VERSIONS

    @property
    def key_column(self) -> str:
        """Name of the column of its surrogate key."""
        return f"{self.name}_key"

    @property
    def own_columns(self) -> tuple[str, ...]:
        """The columns that the platform adds, beside the surrogate key."""
        state = (VALID_FROM, VALID_TO, IS_CURRENT) if self.has_versions else (IS_DELETED,)
        return (*state, CHANGED_AT) if self.at else state


@dataclass(frozen=True, slots=True, kw_only=True)
class StarLink(SettingsRecord):
    """Columns of a fact that refer to a member of a dimension."""

    dimension: Text
    columns: tuple[Text, ...]
    """The columns of the fact, in the order of the dimension's business key."""
    role: TableName = ""
    """The name of the dimension here, where a fact refers to it more than once; without one, its own."""

    @property
    def role_name(self) -> str:
        """The name of the dimension in the fact."""
        return self.role or self.dimension

    @property
    def key_column(self) -> str:
        """Name of the column of the fact that has the surrogate key."""
        return f"{self.role_name}_key"


@dataclass(frozen=True, slots=True, kw_only=True)
class StarFact(SettingsRecord):
    """A fact of a data mart."""

    name: DatasetName
    source: DatasetReference
    """The dataset whose rows it has."""
    keys: tuple[Text, ...]
    """The columns that tell one row from another: a row that arrives again replaces the one before."""
    links: tuple[StarLink, ...] = ()
    at: str = ""
    """The column that says when it happened: it gets the versions of its dimensions that were valid then."""
    measures: tuple[Text, ...] = ()
    columns: tuple[Text, ...] = ()
    """Other columns that are kept. Without these and without measures, all are."""
    removes_missing: bool = False
    """Whether the source has all rows: one that is missing is removed."""

    def __post_init__(self) -> None:
        if not self.keys:
            _refuse(f"The fact {self.name} has no keys.", "Name the columns that tell its rows apart.", "keys")
        keys = [link.key_column for link in self.links]
        _refuse_taken(self.keys, keys, "keys")
        for at, link in enumerate(self.links):
            if link.key_column in keys[:at]:
                message = f"Two links of the fact {self.name} are called {link.role_name}."
                _refuse(message, "Give one of them another role.", f"links.{at}.role")
        for at, link in enumerate(self.links):
            for number, name in enumerate(link.columns):
                _refuse_taken([name], keys, f"links.{at}.columns.{number}")
        _refuse_taken(filter(None, [self.at]), keys, "at")
        _refuse_taken(self.measures, keys, "measures")
        _refuse_taken(self.columns, (*keys, *self.measures), "columns")

    @property
    def kept_columns(self) -> tuple[str, ...]:
        """The columns that are taken from the source; empty for all."""
        if not self.measures and not self.columns:
            return ()
        return tuple({name.lower(): name for name in (*self.needed_columns, *self.columns, *self.measures)}.values())

    @property
    def needed_columns(self) -> tuple[str, ...]:
        """The columns without which it cannot be loaded."""
        linked = chain.from_iterable(link.columns for link in self.links)
        return (*self.keys, *filter(None, [self.at]), *linked)


@dataclass(frozen=True, slots=True, kw_only=True)
class StarViewDimension(SettingsRecord):
    """Columns of a dimension in a view."""

    role: Text
    """The name of the dimension in the fact."""
    columns: tuple[Text, ...]
    """Each is called after the role and itself: `product_name`."""

    def __post_init__(self) -> None:
        if not self.columns:
            _refuse(f"The view chooses no columns of {self.role}.", "Choose one, or leave the role out.", "columns")


@dataclass(frozen=True, slots=True, kw_only=True)
class StarView(SettingsRecord):
    """A flat table for consumers: the columns of a fact, and of its dimensions those that are chosen."""

    name: DatasetName
    fact: Text
    dimensions: tuple[StarViewDimension, ...] = ()
    as_of: Literal["fact", "current"] = "fact"
    """Whether a member is shown as it was when the fact happened, or as it is now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataMartTaskSettings(TaskSettings):
    """A data mart task."""

    label: ClassVar[str] = "Data mart"
    icon: ClassVar[str] = "boxes"

    type: Literal["data_mart"] = "data_mart"
    dimensions: tuple[StarDimension, ...] = ()
    facts: tuple[StarFact, ...] = ()
    views: tuple[StarView, ...] = ()

    def __post_init__(self) -> None:
        if not self.dimensions and not self.facts:
            _refuse("The data mart has neither dimensions nor facts.", "Add a dimension.", "dimensions")
        seen: set[str] = set()
        for part in ("dimensions", "facts", "views"):
            for at, each in enumerate(getattr(self, part)):
                if each.name in seen:
                    message = f"Two datasets of the data mart are called {each.name}."
                    _refuse(message, "Rename one of them.", f"{part}.{at}.name")
                seen.add(each.name)
        for at, fact in enumerate(self.facts):
            for number, link in enumerate(fact.links):
                self._check_link(fact, link, at, number)
        for at, view in enumerate(self.views):
            self._check_view(view, f"views.{at}")

    def dataset_names(self) -> Sequence[str]:
        """Return the names of the datasets that it makes."""
        return [each.name for each in planned_datasets(self)]

    def uses(self) -> Iterator[tuple[str, str, str]]:
        """Yield the tasks that it reads."""
        yield from used_tasks((each.source for each in self.dimensions), "dimensions")
        yield from used_tasks((each.source for each in self.facts), "facts")

    def inputs(self) -> Sequence[DatasetReference]:
        """Return the datasets that it reads."""
        return [*(each.source for each in self.dimensions), *(each.source for each in self.facts)]

    def sources(self) -> dict[str, DatasetReference]:
        """Return the datasets that dimensions and facts are loaded from, by their names."""
        found = {each.name: each.source for each in self.dimensions}
        return found | {each.name: each.source for each in self.facts}

    def dimension(self, name: str) -> StarDimension:
        """Return the dimension of this name."""
        return next(each for each in self.dimensions if each.name == name)

    def fact(self, name: str) -> StarFact:
        """Return the fact of this name."""
        return next(each for each in self.facts if each.name == name)

    def _check_link(self, fact: StarFact, link: StarLink, at: int, number: int) -> None:
        path = f"facts.{at}.links.{number}"
        names = [each.name for each in self.dimensions]
        if link.dimension not in names:
            message = f"The fact {fact.name} refers to the dimension {link.dimension}, which does not exist."
            _refuse(message, _choices(names), f"{path}.dimension")
        dimension = self.dimension(link.dimension)
        if len(link.columns) != len(dimension.business_key):
            message = f"The business key of {dimension.name} is {', '.join(dimension.business_key)}."
            hint = f"Name one column of the fact {fact.name} for each, in this order."
            _refuse(message, hint, f"{path}.columns")
        if dimension.has_versions and not fact.at:
            message = f"The fact {fact.name} does not say when it happened, and {dimension.name} has versions."
            _refuse(message, "Name the column with its time.", f"facts.{at}.at")

    def _check_view(self, view: StarView, path: str) -> None:
        names = [each.name for each in self.facts]
        if view.fact not in names:
            message = f"The view {view.name} shows the fact {view.fact}, which does not exist."
            _refuse(message, _choices(names), f"{path}.fact")
        fact = self.fact(view.fact)
        links = {link.role_name: link for link in fact.links}
        taken = {name.lower() for name in fact.kept_columns}
        for at, chosen in enumerate(view.dimensions):
            if chosen.role not in links:
                message = f"The fact {fact.name} refers to no {chosen.role}."
                _refuse(message, _choices(links), f"{path}.dimensions.{at}.role")
            dimension = self.dimension(links[chosen.role].dimension)
            known = {name.lower() for name in _column_names(dimension)}
            for number, column in enumerate(chosen.columns):
                where = f"{path}.dimensions.{at}.columns.{number}"
                if dimension.columns and column.lower() not in known:
                    message = f"The dimension {dimension.name} has no column {column}."
                    _refuse(message, _choices(_column_names(dimension)), where)
                if (name := view_column(chosen.role, column).lower()) in taken:
                    _refuse(f"Two columns of the view {view.name} are called {name}.", "Leave one of them out.", where)
                taken.add(name)


@dataclass(frozen=True, slots=True)
class StarDataset:
    """A dataset that a data mart task makes."""

    name: str
    role: StarRole


def planned_datasets(settings: DataMartTaskSettings) -> list[StarDataset]:
    """Return the datasets of the task in the order in which they are loaded."""
    return [
        *(StarDataset(each.name, "dimension") for each in settings.dimensions),
        *(StarDataset(each.name, "fact") for each in settings.facts),
        *(StarDataset(each.name, "view") for each in settings.views),
    ]


def view_column(role: str, column: str) -> str:
    """Return the name of a dimension's column in a view."""
    return f"{role}_{column}"


def _column_names(dimension: StarDimension) -> list[str]:
    return [*dimension.business_key, *(each.column for each in dimension.columns), *dimension.own_columns]


def _refuse_taken(names: Iterable[str], taken: Iterable[str], field: str) -> None:
    """Refuse a name that is taken or there twice."""
    seen = {name.lower() for name in taken}
    for name in names:
        if name.lower() in seen:
            _refuse(f"The column {name} is there already.", "Choose another one, or rename it before.", field)
        seen.add(name.lower())


def _choices(names: Iterable[str]) -> str:
    return f"Choose one of: {', '.join(names)}."


def _refuse(message: str, hint: str, field: str) -> NoReturn:
    raise InvalidSettingError(message, hint, field=field)
