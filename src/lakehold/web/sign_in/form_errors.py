"""Collects validation errors by form field."""

from __future__ import annotations

from collections.abc import Callable

from starlette.datastructures import FormData

from lakehold.kit.errors import InvalidInputError

FieldErrors = dict[str, str]


def collect_errors(**fields: Callable[[], object]) -> FieldErrors:
    """Run a validator for each field and return the messages of those that failed."""
    errors: FieldErrors = {}
    for name, validate in fields.items():
        try:
            validate()
        except InvalidInputError as error:
            errors[name] = error_text(error)
    return errors


def error_text(error: InvalidInputError) -> str:
    """Return the message of an error together with its hint."""
    return f"{error.message} {error.hint}".strip()


def text_field(sent: FormData, name: str) -> str:
    """Return the text of a form field. A missing field and a file count as an empty text."""
    value = sent.get(name)
    return value if isinstance(value, str) else ""
