"""Settings of resources, validated by the schema of their kind whichever door they come through.

Empty settings are a draft: it can be saved and completed later. Settings that were stored before their schema was
stricter stay readable; they must be right the next time they are saved.
"""

from __future__ import annotations

from collections.abc import Mapping

from lakehold.kit.settings_schema import InvalidSettingError, SettingsProblem
from lakehold.workspaces import registry

Settings = Mapping[str, object]


def validate_new(kind: str, settings: Settings, managed: Settings | None = None) -> dict[str, object]:
    """Return the settings of a new resource, or refuse them. `managed` are those that only the platform sets."""
    return validate_edit(kind, {}, settings, managed)


def validate_edit(
    kind: str, before: Settings, settings: Settings | None, managed: Settings | None = None
) -> dict[str, object]:
    """Return the settings after an edit, or refuse them.

    Managed settings stay as they are: an edit need not repeat them, and may not change them.
    """
    schema = registry.find_settings_schema(kind)
    given = before if settings is None else settings
    if schema is None or not isinstance(given, Mapping):
        return {**given, **(managed or {})}
    stays = {name: before[name] for name in schema.managed if name in before}
    for name in schema.managed:
        if (given.get(name) or None) != (stays.get(name) or None) and name in given:
            raise InvalidSettingError(
                f"The {name} of a {schema.label} is not set like this.",
                "It changes by actions of its own, such as publish.",
                field=name,
            )
    after = {**given, **stays, **(managed or {})}
    schema.check(after)
    return after


def without_managed(kind: str, settings: Settings) -> dict[str, object]:
    """Return the settings without those that only the platform sets."""
    schema = registry.find_settings_schema(kind)
    return {name: value for name, value in settings.items() if schema is None or name not in schema.managed}


def find_problems(kind: str, settings: Settings) -> list[SettingsProblem]:
    """Return what is wrong with stored settings; nothing for a draft."""
    schema = registry.find_settings_schema(kind)
    return schema.problems(settings) if schema is not None else []
