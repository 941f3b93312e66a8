"""From where somebody comes who is not signed in yet."""

from __future__ import annotations

from dataclasses import dataclass

from lakehold.directory.caller import Caller


@dataclass(frozen=True, slots=True)
class Visit:
    """One request of somebody who has yet to say who they are."""

    address: str = ""
    agent: str = ""
    request: str = ""

    def caller(self, tenant: str, member: str = "") -> Caller:
        """The visitor, once it is known who they are; or nobody, in whose name only notes are made."""
        return Caller(tenant, member, request=self.request, address=self.address)
