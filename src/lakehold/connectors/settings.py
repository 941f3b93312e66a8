"""Settings that all sources or all destinations have in common, and sync modes."""

from enum import StrEnum
from typing import ClassVar

from lakehold.kit.settings_schema import SettingsRecord


class SyncMode(StrEnum):
    """Sync mode: which rows are read, and how they are written."""

    FULL = "full"
    """All are read and replace what is there."""
    APPEND = "append"
    """All are read and added."""
    MERGE = "merge"
    """All are read; those with the same key are replaced."""
    MIRROR = "mirror"
    """The same, and those whose key does not arrive go."""
    INCREMENTAL = "incremental"
    """Only what comes after the cursor is read; with keys it is merged, without it is added."""


class SourceSettings(SettingsRecord):
    """The base of the settings of all sources."""

    __slots__ = ()
    connector: str
    needs_drivers: ClassVar[bool] = False
    """Whether it can only be probed with the JDBC drivers that Spark loads."""
    reads_volume: ClassVar[bool] = False
    """Whether it reads files of a volume."""

    @property
    def volume_id(self) -> str:
        """The volume that it reads files of; empty if it reads none."""
        return ""


class DestinationSettings(SettingsRecord):
    """The base of the settings of all destinations."""

    __slots__ = ()
    to: str
    needs_drivers: ClassVar[bool] = False
    """Whether it can only be tested with the JDBC drivers that Spark loads."""
    writes_volume: ClassVar[bool] = False
    """Whether it writes files into a volume."""
    takes_rows: ClassVar[bool] = True
    """Whether it delivers all rows; else a message about them."""
    takes_message: ClassVar[bool] = False
    """Whether it delivers a message, alone or with the rows."""
