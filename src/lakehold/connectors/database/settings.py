"""Settings of a database: its address and driver, and what of it is read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, ClassVar, Literal
from urllib.parse import parse_qsl

from pydantic import Field

from lakehold.connectors.settings import DestinationSettings, SourceSettings
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.jdbc_address import parse_address
from lakehold.kit.network_policy import NetworkTarget, PolicyList
from lakehold.kit.settings_schema import InvalidSettingError, SettingsRecord, Text
from lakehold.lake.errors import DataError

MAX_PARTITIONS = 256
POSTGRESQL = "jdbc:postgresql:"
SECRET_PATTERN = re.compile(r"(password|passwd|pwd|secret)\s*=|//[^/@]*:[^/@]*@", re.IGNORECASE)
# Other options let its driver load a class or write a file.
POSTGRESQL_PROPERTIES = frozenset(
    {
        *("ssl", "sslmode", "currentSchema", "ApplicationName", "targetServerType", "prepareThreshold"),
        *("connectTimeout", "loginTimeout", "socketTimeout", "tcpKeepAlive"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseSettings(SettingsRecord):
    """A database behind JDBC."""

    network_lists: ClassVar[tuple[PolicyList, ...]] = (PolicyList.SOURCES, PolicyList.DESTINATIONS)
    """The lists of the tenant's network policy that it must be in."""

    address: Text
    """As its driver takes it: `jdbc:postgresql://host:5432/name`."""
    user: str = ""
    driver: str = ""
    """The driver's class. The installation decides it: another one than its own is refused."""
    properties: Mapping[str, str] = field(default_factory=dict)
    """More properties for the driver."""

    def __post_init__(self) -> None:
        check_address(self.address, self.properties)

    def network_targets(self, secrets: Mapping[str, str]) -> Iterator[NetworkTarget]:  # noqa: ARG002 - it has none
        """Return the hosts of the database; a file has none."""
        try:
            hosts = parse_address(self.address).hosts
        except InvalidInputError:
            hosts = (("", 0),)
        for which in self.network_lists:
            for host, port in hosts:
                yield NetworkTarget(which, host, port, "address")


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseSourceSettings(DatabaseSettings, SourceSettings):
    """Tables and views of a database."""

    needs_drivers: ClassVar[bool] = True
    network_lists: ClassVar[tuple[PolicyList, ...]] = (PolicyList.SOURCES,)

    connector: Literal["database"] = "database"
    schemas: tuple[str, ...] = ()
    """Only these; empty for all that the user sees."""


class DeliveryMode(StrEnum):
    """The delivery mode: how the existing rows of the table are treated."""

    APPEND = "append"
    OVERWRITE = "overwrite"
    UPSERT = "upsert"
    """Those with the same keys are changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseDestinationSettings(DatabaseSettings, DestinationSettings):
    """A table of a database."""

    needs_drivers: ClassVar[bool] = True
    network_lists: ClassVar[tuple[PolicyList, ...]] = (PolicyList.DESTINATIONS,)

    to: Literal["database"] = "database"
    table: str = ""
    schema_name: Annotated[str, Field(alias="schema")] = ""
    mode: DeliveryMode = DeliveryMode.APPEND
    keys: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        DatabaseSettings.__post_init__(self)
        if self.mode is DeliveryMode.UPSERT and not self.keys:
            raise InvalidSettingError("To upsert rows, keys are needed.", "Set keys.", field="keys")


@dataclass(frozen=True, slots=True)
class TablePartitioning(SettingsRecord):
    """The partitioning of a read: the number of partitions, and the column (number, date or timestamp) to split by."""

    column: Text
    count: Annotated[int, Field(ge=1, le=MAX_PARTITIONS)] = 4

    def validated(self, columns: list[str]) -> TablePartitioning:
        """Return itself, or refuse if a table with these columns cannot be split like this."""
        if self.column not in columns:
            raise DataError(f"The table has no column {self.column!r}.", f"It has: {', '.join(columns)}.")
        if not 1 <= self.count <= MAX_PARTITIONS:
            raise InvalidInputError(f"A table is read in 1 to {MAX_PARTITIONS} parts, not {self.count}.")
        return self


def check_address(address: str, properties: Mapping[str, str]) -> None:
    """Refuse an invalid address, one that contains credentials, and properties that could harm this machine."""
    if not re.fullmatch(r"jdbc:[a-z0-9+_-]+:\S+", address):
        hint = "Use jdbc:postgresql://host:5432/name, or the format of the driver."
        raise InvalidSettingError("This is not a JDBC address.", hint, field="address")
    if SECRET_PATTERN.search(address):
        hint = "Enter user name and password in their own fields."
        raise InvalidSettingError("The address of the database contains a password.", hint, field="address")
    if address.startswith(POSTGRESQL):
        given = {name for name, _ in parse_qsl(address.partition("?")[2], keep_blank_values=True)}
        if refused := (given | set(properties)) - POSTGRESQL_PROPERTIES:
            message = f"These properties of PostgreSQL's driver are not allowed: {', '.join(sorted(refused))}."
            hint = f"Allowed are: {', '.join(sorted(POSTGRESQL_PROPERTIES))}."
            raise InvalidSettingError(message, hint, field="address" if refused & given else "properties")
