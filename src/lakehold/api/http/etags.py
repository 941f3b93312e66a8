"""ETags and If-Match, so that concurrent changes of one resource do not overwrite each other.

The tag is a digest of the response itself, so that no version has to be counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Annotated

from fastapi import Depends, Header

from lakehold.api.http.models import ResponseModel
from lakehold.api.http.problems import PreconditionRequiredError
from lakehold.catalog.resource_metadata import VersionConflictError


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
"""For every endpoint that changes a thing which has an ETag."""
