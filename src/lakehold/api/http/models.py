"""Base classes and field types of request and response models; ETag and If-Match.

Texts are limited in length, and every field has an example. With If-Match, concurrent changes of one resource do not
overwrite each other; the tag is a digest of the response itself, so that no version has to be counted.
"""

import unicodedata
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Annotated, Any, ClassVar, Generic, Self, TypeVar

from fastapi import Depends, Header
from pydantic import AfterValidator, AliasChoices, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field

from lakehold.api.http.problems import PreconditionRequiredError
from lakehold.catalog.resource_metadata import VersionConflictError
from lakehold.kit.clock import FOREVER, SECOND
from lakehold.kit.errors import LakeholdError
from lakehold.kit.ids import MAX_ID, MAX_NAME, valid_id, valid_name

T = TypeVar("T")

_MAX_TEXT_LENGTH = 4_000


class RequestModel(BaseModel):
    """Base class of request bodies. Unknown fields are refused, so that a typing error is not ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ResponseModel(BaseModel):
    """Base class of responses. `model_validate` reads one from a record of a service, by the names of its fields."""

    model_config = ConfigDict(frozen=True, from_attributes=True)

    omits_null: ClassVar[bool] = False
    """Whether fields that say nothing are left out instead of being null."""

    def headers(self) -> Mapping[str, str]:
        """Return additional response headers."""
        return {}


class ItemsResponse(ResponseModel, Generic[T]):
    """Base class of lists."""

    items: list[T]

    @classmethod
    def from_records(cls, records: Iterable[object]) -> Self:
        """Read the items from records of a service."""
        return cls.model_validate({"items": list(records)})


class TaggedResponse(ResponseModel):
    """A response that is sent with an ETag. Leave out of `version` what depends on the caller or on the time of day."""

    def version(self) -> bytes:
        """Return the bytes that the tag is a digest of."""
        return self.__pydantic_serializer__.to_json(self)

    @property
    def etag(self) -> str:
        """Return the tag, in quotes."""
        return f'"{sha256(self.version()).hexdigest()[:32]}"'

    def headers(self) -> Mapping[str, str]:
        """Return the ETag header."""
        return {"etag": self.etag}


class Precondition:
    """The If-Match header of a request."""

    def __init__(self, if_match: str | None) -> None:
        self._tags = None if if_match is None else {tag.strip() for tag in if_match.split(",")}

    def need(self, current: TaggedResponse) -> None:
        """Raise unless the tag matches the current state. Call it inside the transaction, after checking the right."""
        if self._tags is None:
            raise PreconditionRequiredError(
                "This change needs the header If-Match.", "Send the ETag of the state that you saw."
            )
        if "*" not in self._tags and current.etag not in self._tags:
            raise VersionConflictError(
                "It was changed meanwhile; nothing was written.", "Read it again, and send its new ETag."
            )


async def _precondition(
    if_match: Annotated[
        str | None,
        Header(
            max_length=1_000, description="The ETag of the state that you saw, or `*` for any.", examples=['"6a1f…"']
        ),
    ] = None,
) -> Precondition:
    return Precondition(if_match)


IfMatch = Annotated[Precondition, Depends(_precondition)]
"""The If-Match header, for every endpoint that changes a resource with an ETag."""


def validated_by(check: Callable[[Any], T]) -> AfterValidator:
    """Return a validator that calls a check of the kit, so that the problem names the field."""

    def validate(value: object) -> T:
        try:
            return check(value)
        except LakeholdError as error:
            raise ValueError(str(error)) from None

    return AfterValidator(validate)


def validate_plain_text(value: object) -> str:
    """Validate a text of several lines; control characters are refused."""
    text = str(value)
    if text.isascii() and text.isprintable():
        return text
    if any(unicodedata.category(letter) in {"Cc", "Cs"} and letter not in "\n\t\r" for letter in text):
        raise ValueError("It has a control character. Use letters, digits, spaces and punctuation.")
    return text


IdText = Annotated[str, Field(min_length=1, max_length=MAX_ID, examples=["orders"]), validated_by(valid_id)]
NameText = Annotated[str, Field(min_length=1, max_length=MAX_NAME, examples=["Orders"]), validated_by(valid_name)]
Word = Annotated[str, Field(min_length=1, max_length=MAX_NAME, examples=["edit"]), AfterValidator(validate_plain_text)]
"""A word of a model: an action, a role, a kind."""
PlainText = Annotated[
    str, Field(max_length=_MAX_TEXT_LENGTH, examples=["A few words."]), AfterValidator(validate_plain_text)
]
SearchText = Annotated[str, Field(max_length=MAX_NAME, examples=["sales"]), AfterValidator(validate_plain_text)]

Time = Annotated[AwareDatetime, Field(examples=["2031-05-04T10:30:00Z"])]
"""A moment with its time zone. In a query a `+` must be written as `%2B`; `Z` needs no care."""


GENERATED_ID = "Generated if it is missing. Only callers with the right `see_audit` may choose one."
RecordId = Annotated[IdText, Field(validation_alias=AliasChoices("uid", "id"))]
"""The id of a response that is read from a record."""
RecordTime = Annotated[
    Time, BeforeValidator(lambda at: datetime.fromtimestamp(at / SECOND, UTC) if isinstance(at, int) else at)
]
"""The time of a response that is read from a record's moment."""
RecordEnd = Annotated[
    RecordTime | None, BeforeValidator(lambda at: None if isinstance(at, int) and (not at or at >= FOREVER) else at)
]
"""The time of a record's moment, or null if that is missing, 0 for never, or without end."""
