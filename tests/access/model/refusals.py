"""Helpers for invalid models: the wrong line of a text ends with `# <-`."""

from __future__ import annotations

from textwrap import dedent, indent
from typing import NamedTuple

import pytest

from lakehold import directory
from lakehold.access.model.errors import ModelError
from lakehold.access.model.loader import parse_model
from lakehold.access.model.policy import Policy
from lakehold.kit.errors import LakeholdError

FILE = "library/model.yaml"
HEAD = "model: library\nextends: [tenant]\nkinds:\n"


class InvalidModel(NamedTuple):
    """A model with one error, and what the message and the hint must name."""

    text: str
    message: str
    hint: str = ""


def kinds(text: str) -> str:
    """A model with these kinds, standing on the tenant's."""
    return HEAD + indent(dedent(text).strip("\n") + "\n", "  ")


def marked_line(text: str) -> int:
    """The line that the text says is wrong."""
    return 1 + next(number for number, line in enumerate(text.splitlines()) if line.endswith("# <-"))


def load_error(text: str) -> ModelError:
    """Return the error of a text that cannot be parsed."""
    with pytest.raises(ModelError) as caught:
        parse_model(text, FILE)
    return caught.value


def compile_error(text: str) -> ModelError:
    """Return the error of a text that can be parsed, but whose names or rules are wrong."""
    model = parse_model(text, FILE)
    with pytest.raises(ModelError) as caught:
        Policy([directory.model(), model])
    return caught.value


def assert_error(error: ModelError, wrong: InvalidModel, line: int | None = None) -> None:
    """Assert that the error names the file, the line, the mistake and the remedy."""
    assert isinstance(error, LakeholdError)
    assert (error.code, error.status, error.retryable) == ("model_invalid", 422, False)
    line = line or marked_line(wrong.text)
    assert (error.place.file, error.place.line) == (FILE, line)
    assert error.message.startswith(f"{FILE}:{line}: ")
    assert wrong.message in error.message
    assert wrong.hint in error.hint
    assert str(error) == f"{error.message} {error.hint}".strip()
