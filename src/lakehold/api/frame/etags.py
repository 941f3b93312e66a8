"""Which state of a thing somebody saw, so that two who change it at once do not undo each other.

The tag is a digest of the answer itself: whatever of it differs, the tag differs, and nothing has to be counted up.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Annotated

from fastapi import Depends, Header

from lakehold.api.frame.errors import PreconditionRequiredError
from lakehold.api.frame.models import Answer
from lakehold.catalog.resource_metadata import VersionConflictError


class Tagged(Answer):
    """An answer that is sent with its ETag: one thing that can be changed. Leave out of `version` what depends on who
    looks, or on the time of day.
    """

    def version(self) -> bytes:
        """What the tag is of."""
        return self.__pydantic_serializer__.to_json(self)

    @property
    def etag(self) -> str:
        """The tag, in its quotes."""
        return f'"{sha256(self.version()).hexdigest()[:32]}"'

    def headers(self) -> Mapping[str, str]:
        """The tag goes before the body."""
        return {"etag": self.etag}


class Precondition:
    """What the caller says they saw."""

    def __init__(self, if_match: str | None) -> None:
        self._tags = None if if_match is None else {tag.strip() for tag in if_match.split(",")}

    def need(self, current: Tagged) -> None:
        """Refuse unless the caller saw the present state. Ask inside the transaction, after asking for the right."""
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
