"""The settings of a bed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from lakehold.kit.settings_schema import SettingsRecord, SettingsSchema


@dataclass(frozen=True, slots=True, kw_only=True)
class BedSettings(SettingsRecord):
    """How much water a bed takes."""

    litres: Annotated[int, Field(ge=1)]


BED = SettingsSchema[BedSettings]("bed", BedSettings)
BY_KIND: Mapping[str, SettingsSchema[Any]] = {"bed": BED}
