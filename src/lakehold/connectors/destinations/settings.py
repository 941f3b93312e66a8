"""Settings that all destinations have in common."""

from typing import ClassVar

from lakehold.kit.settings_schema import SettingsRecord


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
