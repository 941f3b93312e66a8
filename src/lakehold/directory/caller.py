"""The caller of a request, and the client that a request comes from."""

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
    inputs: frozenset[str] | None = None
    """The only tables that can be read, whatever the member may read: what a task is given. None for no such limit."""

    def to_stored(self) -> dict[str, object]:
        """Return the caller in stored form, with the scope of their token, to act as them later."""
        values: dict[str, object] = {"member": self.member, "token_id": self.token_id, "request": self.request}
        if self.impersonator:
            values["behind"] = self.impersonator
        if self.inputs is not None:
            values["inputs"] = sorted(self.inputs)
        if self.narrowed is not None:
            parts = {"actions": self.narrowed.actions, "resources": self.narrowed.resources}
            values["narrowed"] = {name: None if part is None else sorted(part) for name, part in parts.items()}
        return values

    @classmethod
    def from_stored(cls, tenant: str, stored: Mapping[str, Any], *, address: str = "") -> Caller:
        """Restore a caller from what `to_stored` returned."""
        values = dict(stored)
        narrowed = values.pop("narrowed", None)
        if narrowed is not None:
            parts = {name: None if part is None else frozenset(part) for name, part in narrowed.items()}
            values["narrowed"] = TokenPrincipal(values["member"], **parts)
        values["impersonator"] = values.pop("behind", "")
        inputs = values.pop("inputs", None)
        values["inputs"] = None if inputs is None else frozenset(inputs)
        return cls(tenant, address=address, **values)

    @property
    def principal(self) -> Principal:
        """The subject of access decisions."""
        return self.narrowed or self.member


@dataclass(frozen=True, slots=True)
class ClientInfo:
    """Address, user agent and request id of a client that is not authenticated yet."""

    address: str = ""
    agent: str = ""
    request: str = ""

    def to_caller(self, tenant: str, member: str = "") -> Caller:
        """Return the client as a caller; without a member it can only write audit entries."""
        return Caller(tenant, member, request=self.request, address=self.address)
