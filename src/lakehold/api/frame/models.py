"""What bodies and answers are made of: typed, limited in length, and with an example for every text."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Annotated, ClassVar

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field

from lakehold.kit.clock import FOREVER, SECOND, Moment
from lakehold.kit.errors import LakeholdError
from lakehold.kit.ids import MAX_ID, MAX_NAME, valid_id, valid_name

_LONGEST_TEXT = 4_000


class Body(BaseModel):
    """What a request brings. A field that nobody knows is refused, so that a slip of the pen is not lost."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Answer(BaseModel):
    """What a request gets."""

    model_config = ConfigDict(frozen=True)

    omits_null: ClassVar[bool] = False
    """Whether fields that say nothing are left out instead of being null."""

    def headers(self) -> Mapping[str, str]:
        """What goes before the body."""
        return {}


def checked(check: Callable[[object], str]) -> AfterValidator:
    """A check of the kit for a field, so that the problem names the field."""

    def look(value: str) -> str:
        try:
            return check(value)
        except LakeholdError as error:
            raise ValueError(str(error)) from None

    return AfterValidator(look)


def plain(value: object) -> str:
    """A text of several lines with nothing in it that cannot be kept or shown."""
    text = str(value)
    if text.isascii() and text.isprintable():
        return text
    if any(unicodedata.category(letter) in {"Cc", "Cs"} and letter not in "\n\t\r" for letter in text):
        raise ValueError("It has a control character. Use letters, digits, spaces and punctuation.")
    return text


IdText = Annotated[str, Field(min_length=1, max_length=MAX_ID, examples=["orders"]), checked(valid_id)]
NameText = Annotated[str, Field(min_length=1, max_length=MAX_NAME, examples=["Orders"]), checked(valid_name)]
Word = Annotated[str, Field(min_length=1, max_length=MAX_NAME, examples=["edit"]), AfterValidator(plain)]
"""A word of a model: an action, a role, a kind."""
PlainText = Annotated[str, Field(max_length=_LONGEST_TEXT, examples=["A few words."]), AfterValidator(plain)]
Search = Annotated[str, Field(max_length=MAX_NAME, examples=["sales"]), AfterValidator(plain)]

Time = Annotated[AwareDatetime, Field(examples=["2031-05-04T10:30:00Z"])]
"""A moment with its time zone. In a query a `+` must be written as `%2B`; `Z` needs no care."""


def told(at: Moment | None) -> datetime | None:
    """A moment as an answer tells it; None for what has no end."""
    return None if at is None or at >= FOREVER else datetime.fromtimestamp(at / SECOND, UTC)


def time_of(at: Moment) -> datetime:
    """The same for a moment that is always there."""
    return datetime.fromtimestamp(at / SECOND, UTC)


def _none_for_empty(value: object) -> object:
    return None if value == "" else value


Optional = BeforeValidator(_none_for_empty)
"""A query parameter that is there but empty counts as not there."""
