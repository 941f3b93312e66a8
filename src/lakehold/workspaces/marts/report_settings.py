"""Settings of reports: their query on a data mart, when they are sent, and their message."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field

from lakehold.connectors.files.settings import OutputKind
from lakehold.kit.ids import quote
from lakehold.kit.settings_schema import InvalidSettingError, SettingsRecord, SettingsSchema, Text
from lakehold.lake.sql_expressions import UNARY_OPERATORS, Aggregate, Operator
from lakehold.runs.runnable import RunSettings

MAX_ROWS = 10_000_000


def aggregate_title(how: str, column: str, name: str) -> str:
    """Return the name of an aggregate in the result."""
    return name or (f"{how} of {column}" if column else how)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportAggregate(SettingsRecord):
    """An aggregated column of a report."""

    how: Aggregate
    column: str = ""
    name: str = ""

    def __post_init__(self) -> None:
        if not self.column and self.how != "count":
            raise InvalidSettingError(f"A {self.how} needs a column.", "Name one.", field="column")

    @property
    def title(self) -> str:
        """The name of the column in the report."""
        return aggregate_title(self.how, self.column, self.name.strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportCondition(SettingsRecord):
    """A condition on the rows of a report."""

    column: Text
    operator: Annotated[Operator, Field(alias="is")] = "="
    value: str = ""
    """A value that begins with a colon is a parameter; two colons stand for one."""
    values: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.operator == "in" and not self.values:
            message = "A list of values needs at least one."
            raise InvalidSettingError(message, "Name one, or leave it out.", field="values")
        if self.operator not in (*UNARY_OPERATORS, "in") and not self.value.strip():
            raise InvalidSettingError("The condition has no value.", "Set value.", field="value")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSort(SettingsRecord):
    """A column that a report is sorted by."""

    column: Text
    descending: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportDelivery(SettingsRecord):
    """Delivery options of a report, which override those of its destination."""

    name: str | None = None
    subject: str | None = None
    body: str | None = None
    kind: OutputKind | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSettings(SettingsRecord):
    """A report: its query on a data mart, when it is sent, and its message."""

    columns: tuple[str, ...] = ()
    """Without any, all of them."""
    sums: tuple[ReportAggregate, ...] = ()
    where: tuple[ReportCondition, ...] = ()
    sort: tuple[ReportSort, ...] = ()
    limit: Annotated[int, Field(ge=1)] = MAX_ROWS
    zone: str = "UTC"
    """The time zone of relative dates."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    send: Literal["always", "rows", "changed"] = "always"
    """Always; only if there are rows; only if they have changed since it was last sent."""
    message: str = ""
    delivery: ReportDelivery = field(default_factory=ReportDelivery)

    def __post_init__(self) -> None:
        try:
            ZoneInfo(self.zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise InvalidSettingError(
                f"There is no time zone {quote(self.zone)}.", "Use a name such as Europe/Berlin.", field="zone"
            ) from None


REPORT = SettingsSchema[ReportSettings]("report", ReportSettings, common=RunSettings)
