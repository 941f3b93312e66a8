"""A standardised value with the parts that matching compares."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class StandardValue:
    """A standardised value as people see it, and its parts. A part that it does not have is missing."""

    value: str
    parts: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", {name: text for name, text in self.parts.items() if text})
