"""Signing in with a link: the second method."""

from __future__ import annotations

from dataclasses import dataclass, field

from lakehold.directory import credentials, links
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.installation import Installation
from lakehold.directory.mails import SIGN_IN
from lakehold.directory.sign_in import Proof
from lakehold.directory.work import Work


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

    def tenant(self, house: Installation) -> str:
        """Only the link itself knows."""
        with house.database.read() as transaction:
            link = links.found(house, transaction, self.secret, SIGN_IN)
        return str(link.tenant) if link is not None else ""

    def prove(self, house: Installation, tenant: str) -> Proof:
        """Look it up."""
        with house.database.read() as transaction:
            link = links.found(house, transaction, self.secret, SIGN_IN)
        return Proof(link.member, right=True) if link is not None and link.tenant == tenant else Proof()

    def settle(self, work: Work, proof: Proof) -> bool:
        """Whether nobody else has used it meanwhile."""
        link = links.held(work, self.secret, SIGN_IN)
        return link is not None and link.member == proof.member and links.used(work, link)

    def refusal(self) -> UnauthorizedError:
        """The same for whatever is wrong with it."""
        return links.refusal()
