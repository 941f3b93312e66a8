"""What is written in the settings of a resource. They are anybody's JSON: what is wrong is told by its name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote

_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")


class SettingsReader:
    """Settings, by name."""

    def __init__(self, settings: Mapping[str, object], of: str) -> None:
        self._settings = settings
        self._of = of

    def text(self, name: str, default: str | None = None) -> str:
        """A text."""
        found = self._settings.get(name, default)
        if found is not None and not isinstance(found, str):
            raise InvalidInputError(f"The {name} of the {self._of} is a text.", f'Write "{name}": "…".')
        if found is None or (default is None and not found.strip()):
            raise InvalidInputError(f"The {self._of} has no {name}.", f"Set {name} in its settings, as a text.")
        return found

    def one_of(self, name: str, among: Sequence[str], default: str) -> str:
        """One of several words."""
        found = self.text(name, default)
        if found not in among:
            raise InvalidInputError(
                f"The {name} of the {self._of} cannot be {quote(found)}.", f"Use {', '.join(among)}."
            )
        return found

    def texts(self, name: str) -> tuple[str, ...]:
        """Several texts, or none."""
        found = self._settings.get(name, ())
        if (
            isinstance(found, str)
            or not isinstance(found, Sequence)
            or not all(isinstance(part, str) for part in found)
        ):
            raise InvalidInputError(f"The {name} of the {self._of} is a list of texts.", f'Write "{name}": ["…"].')
        return tuple(found)

    def flag(self, name: str, *, default: bool) -> bool:
        """Yes or no."""
        found = self._settings.get(name, default)
        if not isinstance(found, bool):
            raise InvalidInputError(f"The {name} of the {self._of} is true or false.", f'Write "{name}": true.')
        return found

    def number(self, name: str, default: float, *, least: float = 0) -> float:
        """A number."""
        found = self._settings.get(name, default)
        if isinstance(found, bool) or not isinstance(found, int | float) or not least <= found:
            raise InvalidInputError(f"The {name} of the {self._of} is no number from {least:g}.", "Write one.")
        return found

    def count(self, name: str, default: int, *, least: int = 0) -> int:
        """A whole number."""
        found = self.number(name, default, least=least)
        if found != int(found):
            raise InvalidInputError(f"The {name} of the {self._of} is a whole number.", "Write one.")
        return int(found)

    def pairs(self, name: str) -> dict[str, str]:
        """Texts by name."""
        found = self._settings.get(name, {})
        if not isinstance(found, Mapping) or not all(isinstance(value, str) for value in found.values()):
            raise InvalidInputError(f"The {name} of the {self._of} is texts by name.", f'Write "{name}": {{"…": "…"}}.')
        return dict(found)

    def has(self, name: str) -> bool:
        """Whether anything is said of it."""
        return self._settings.get(name) is not None

    def within(self, name: str) -> SettingsReader:
        """Settings inside of the settings."""
        found = self._settings.get(name)
        if not isinstance(found, Mapping):
            raise InvalidInputError(f"The {self._of} has no {name}.", f'Write "{name}": {{…}}.')
        return SettingsReader(found, f"{name} of the {self._of}")

    def each(self, name: str) -> list[SettingsReader]:
        """Several of them."""
        found = self._settings.get(name, ())
        if (
            isinstance(found, str)
            or not isinstance(found, Sequence)
            or not all(isinstance(at, Mapping) for at in found)
        ):
            raise InvalidInputError(f"The {name} of the {self._of} is a list.", f'Write "{name}": [{{…}}].')
        return [SettingsReader(at, f"{name} of the {self._of}") for at in found if isinstance(at, Mapping)]

    @property
    def all(self) -> Mapping[str, object]:
        """As they were written."""
        return self._settings

    def table(self) -> str:
        """The name of a table that is to be made."""
        return table_name(self.text("table"))


def table_name(text: str) -> str:
    """The name, if a table can have it."""
    if not _NAME.fullmatch(text):
        raise InvalidInputError(
            f"A table cannot be called {quote(text)}.",
            "Use small letters, digits and _, with a letter first, 63 at the most.",
        )
    return text
