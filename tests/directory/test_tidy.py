"""What has ended long ago is dropped; what is still of use stays."""

from __future__ import annotations

from lakehold.directory import invites, links, sign_ins, tokens
from lakehold.directory.mails import SIGN_IN
from lakehold.directory.tidy import tidy
from tests.directory.town import Town


def test_it_drops_what_has_ended(town: Town) -> None:
    bob = town.person("Bob")
    town.signed_in("Bob")
    with town.house.write(town.olga) as work:
        links.make(work, town.house.settings, "bob", SIGN_IN)
        invites.make(work, town.house.settings, "new@example.org")
        tokens.make(work, "short", days=1)
        tokens.make(work, "long", days=None)
    assert tidy(town.house) == 0
    town.clock.pass_by(15 * 86_400)
    assert tidy(town.house) == 1 + 1 + 2  # the sign-in, the link, and the attempts of an account and an address
    with town.house.read(bob) as work:
        assert sign_ins.of(work, "bob") == []
    with town.house.read(town.olga) as work:
        assert {token.name for token in tokens.every(work)} == {"short", "long"}
        assert len(invites.page(work)) == 1
    town.clock.pass_by(30 * 86_400)
    assert tidy(town.house) == 2
    with town.house.read(town.olga) as work:
        assert [token.name for token in tokens.every(work)] == ["long"]
        assert invites.page(work) == []
