"""What has ended long ago is dropped; what is still of use stays."""

from __future__ import annotations

from lakehold.directory import invites, links, sign_ins, tokens
from lakehold.directory.mails import SIGN_IN
from lakehold.directory.tidy import tidy
from tests.directory.town import Town


def test_it_drops_what_has_ended(town: Town) -> None:
    bob = town.person("Bob")
    town.signed_in("Bob")
    with town.platform.write(town.olga) as ctx:
        links.make(ctx, town.platform.settings, "bob", SIGN_IN)
        invites.make(ctx, town.platform.settings, "new@example.org")
        tokens.make(ctx, "short", days=1)
        tokens.make(ctx, "long", days=None)
    assert tidy(town.platform) == 0
    town.clock.pass_by(15 * 86_400)
    assert tidy(town.platform) == 1 + 1 + 2  # the sign-in, the link, and the attempts of an account and an address
    with town.platform.read(bob) as ctx:
        assert sign_ins.of(ctx, "bob") == []
    with town.platform.read(town.olga) as ctx:
        assert {token.name for token in tokens.every(ctx)} == {"short", "long"}
        assert len(invites.page(ctx)) == 1
    town.clock.pass_by(30 * 86_400)
    assert tidy(town.platform) == 2
    with town.platform.read(town.olga) as ctx:
        assert [token.name for token in tokens.every(ctx)] == ["long"]
        assert invites.page(ctx) == []
