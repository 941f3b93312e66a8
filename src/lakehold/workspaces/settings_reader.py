"""Typed reading of the settings of a resource, which are arbitrary JSON; errors name the setting."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote
from lakehold.runs.runnable import RunOptions


def refuse_backfill(options: RunOptions, label: str) -> None:
    """Refuse a backfill of a pipeline that can only be run as a whole."""
    if options.span is not None:
        raise InvalidInputError(
            f"A {label} is not run over a span.",
            "Backfill a source that is read by a cursor, or a query that names one; then run this.",
        )


_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")


class SettingsReader:
    """Reads settings by name, and raises `InvalidInputError` if one is missing or of the wrong type."""

    def __init__(self, settings: Mapping[str, object], label: str) -> None:
        self._settings = settings
        self._label = label

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text."""
        found = self._settings.get(name, default)
        if found is not None and not isinstance(found, str):
            raise InvalidInputError(f"The {name} of the {self._label} is a text.", f'Write "{name}": "…".')
        if found is None or (default is None and not found.strip()):
            raise InvalidInputError(f"The {self._label} has no {name}.", f"Set {name} in its settings, as a text.")
        return found

    def one_of(self, name: str, among: Sequence[str], default: str) -> str:
        """Return one of several words."""
        found = self.text(name, default)
        if found not in among:
            raise InvalidInputError(
                f"The {name} of the {self._label} cannot be {quote(found)}.", f"Use {', '.join(among)}."
            )
        return found

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts, which may be empty."""
        found = self._settings.get(name, ())
        if (
            isinstance(found, str)
            or not isinstance(found, Sequence)
            or not all(isinstance(part, str) for part in found)
        ):
            raise InvalidInputError(f"The {name} of the {self._label} is a list of texts.", f'Write "{name}": ["…"].')
        return tuple(found)

    def flag(self, name: str, *, default: bool) -> bool:
        """Return a boolean."""
        found = self._settings.get(name, default)
        if not isinstance(found, bool):
            raise InvalidInputError(f"The {name} of the {self._label} is true or false.", f'Write "{name}": true.')
        return found

    def number(self, name: str, default: float, *, least: float = 0) -> float:
        """Return a number."""
        found = self._settings.get(name, default)
        if isinstance(found, bool) or not isinstance(found, int | float) or not least <= found:
            raise InvalidInputError(f"The {name} of the {self._label} is no number from {least:g}.", "Write one.")
        return found

    def count(self, name: str, default: int, *, least: int = 0) -> int:
        """Return a whole number."""
        found = self.number(name, default, least=least)
        if found != int(found):
            raise InvalidInputError(f"The {name} of the {self._label} is a whole number.", "Write one.")
        return int(found)

    def pairs(self, name: str) -> dict[str, str]:
        """Return texts by name."""
        found = self._settings.get(name, {})
        if not isinstance(found, Mapping) or not all(isinstance(value, str) for value in found.values()):
            raise InvalidInputError(
                f"The {name} of the {self._label} is texts by name.", f'Write "{name}": {{"…": "…"}}.'
            )
        return dict(found)

    def has(self, name: str) -> bool:
        """Return whether the setting is there and not null."""
        return self._settings.get(name) is not None

    def nested(self, name: str) -> SettingsReader:
        """Return a reader of settings inside the settings."""
        found = self._settings.get(name)
        if not isinstance(found, Mapping):
            raise InvalidInputError(f"The {self._label} has no {name}.", f'Write "{name}": {{…}}.')
        return SettingsReader(found, f"{name} of the {self._label}")

    def nested_list(self, name: str) -> list[SettingsReader]:
        """Return a reader for each element of a list of settings."""
        found = self._settings.get(name, ())
        if (
            isinstance(found, str)
            or not isinstance(found, Sequence)
            or not all(isinstance(at, Mapping) for at in found)
        ):
            raise InvalidInputError(f"The {name} of the {self._label} is a list.", f'Write "{name}": [{{…}}].')
        return [SettingsReader(at, f"{name} of the {self._label}") for at in found if isinstance(at, Mapping)]

    @property
    def raw(self) -> Mapping[str, object]:
        """The settings as they are stored."""
        return self._settings

    def table_name(self) -> str:
        """Return the name of a table that is to be created."""
        return valid_table_name(self.text("table"))


def valid_table_name(text: str) -> str:
    """Return the name if a table can have it, or raise."""
    if not _NAME.fullmatch(text):
        raise InvalidInputError(
            f"A table cannot be called {quote(text)}.",
            "Use small letters, digits and _, with a letter first, 63 at the most.",
        )
    return text
