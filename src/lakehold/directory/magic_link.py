"""Signing in with a link: the second method."""

from __future__ import annotations

from dataclasses import dataclass, field

from lakehold.directory import credentials, links
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.mails import SIGN_IN
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.directory.sign_in import Proof


@dataclass(frozen=True, slots=True)
class MagicLink:
    """Whoever has it is who it was made for, once."""

    secret: str = field(repr=False)

    @property
    def name(self) -> str:
        """What lists and the audit log call it."""
        return "link"

    @property
    def counted_by(self) -> str:
        """The id that is part of it."""
        given = credentials.read(credentials.LINK, self.secret)
        return given.id if given else ""

    def tenant(self, platform: Platform) -> str:
        """Only the link itself knows."""
        with platform.database.read() as transaction:
            link = links.found(platform, transaction, self.secret, SIGN_IN)
        return str(link.tenant) if link is not None else ""

    def prove(self, platform: Platform, tenant: str) -> Proof:
        """Look it up."""
        with platform.database.read() as transaction:
            link = links.found(platform, transaction, self.secret, SIGN_IN)
        return Proof(link.member, right=True) if link is not None and link.tenant == tenant else Proof()

    def settle(self, ctx: RequestContext, proof: Proof) -> bool:
        """Whether nobody else has used it meanwhile."""
        link = links.held(ctx, self.secret, SIGN_IN)
        return link is not None and link.member == proof.member and links.used(ctx, link)

    def refusal(self) -> UnauthorizedError:
        """The same for whatever is wrong with it."""
        return links.refusal()
