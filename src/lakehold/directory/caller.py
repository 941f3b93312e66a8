"""Who calls: a member, through a sign-in or an API token, from somewhere."""

from __future__ import annotations

from dataclasses import dataclass

from lakehold.access import Token
from lakehold.access.decide.subjects import Asker


@dataclass(frozen=True, slots=True)
class Caller:
    """A member of a tenant in one request or one step of a run."""

    tenant: str
    member: str
    """The member's id; empty for the installation itself, which only the worker is."""
    narrowed: Token | None = None
    token_id: str = ""
    """The id of the API token, if the call came with one."""
    sign_in_id: str = ""
    """The id of the sign-in, if the call came with one."""
    request: str = ""
    address: str = ""
    behind: str = ""
    """Who really looks, while they view as the member."""

    @property
    def asker(self) -> Asker:
        """Whom decisions are about."""
        return self.narrowed or self.member
