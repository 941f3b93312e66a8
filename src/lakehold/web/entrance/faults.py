"""What is wrong with a form, field by field, in the words of whoever looked at the field."""

from __future__ import annotations

from collections.abc import Callable

from starlette.datastructures import FormData

from lakehold.kit.errors import InvalidInputError

Faults = dict[str, str]


def faults(**fields: Callable[[], object]) -> Faults:
    """The words about each field that cannot be as it is."""
    found: Faults = {}
    for name, look in fields.items():
        try:
            look()
        except InvalidInputError as error:
            found[name] = told(error)
    return found


def told(error: InvalidInputError) -> str:
    """What is wrong, and what to do."""
    return f"{error.message} {error.hint}".strip()


def text(sent: FormData, name: str) -> str:
    """What was written into a field. What was not there, and what is no text, is as if nothing had been written."""
    value = sent.get(name)
    return value if isinstance(value, str) else ""
