"""The result of probing a source, for pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lakehold.kit.errors import LakeholdError


@dataclass(frozen=True, slots=True)
class SourceProbe:
    """The result of probing a source, or the error."""

    found: Mapping[str, Any] = field(default_factory=dict)
    error: LakeholdError | None = None

    @property
    def streams(self) -> list[Mapping[str, Any]]:
        """Return the streams of the source."""
        return list(self.found.get("streams", ()))
