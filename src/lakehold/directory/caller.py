"""Who calls: a member, through a sign-in or an API token, from somewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lakehold.access import TokenPrincipal
from lakehold.access.decisions.principal import Principal


@dataclass(frozen=True, slots=True)
class Caller:
    """A member of a tenant in one request or one step of a run."""

    tenant: str
    member: str
    """The member's id; empty for the installation itself, which only the worker is."""
    narrowed: TokenPrincipal | None = None
    token_id: str = ""
    """The id of the API token, if the call came with one."""
    sign_in_id: str = ""
    """The id of the sign-in, if the call came with one."""
    request: str = ""
    address: str = ""
    impersonator: str = ""
    """Who really looks, while they view as the member."""

    def told(self) -> dict[str, object]:
        """What has to be remembered to act as this caller later: also how narrow their token was."""
        said: dict[str, object] = {"member": self.member, "token_id": self.token_id, "request": self.request}
        if self.impersonator:
            said["behind"] = self.impersonator
        if self.narrowed is not None:
            parts = {"actions": self.narrowed.actions, "resources": self.narrowed.resources}
            said["narrowed"] = {name: None if part is None else sorted(part) for name, part in parts.items()}
        return said

    @classmethod
    def of(cls, tenant: str, told: Mapping[str, Any], *, address: str = "") -> Caller:
        """The caller of whom this was told."""
        said = dict(told)
        narrowed = said.pop("narrowed", None)
        if narrowed is not None:
            parts = {name: None if part is None else frozenset(part) for name, part in narrowed.items()}
            said["narrowed"] = TokenPrincipal(said["member"], **parts)
        return cls(tenant, address=address, **said)

    @property
    def asker(self) -> Principal:
        """Whom decisions are about."""
        return self.narrowed or self.member
