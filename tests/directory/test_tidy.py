"""What has ended long ago is dropped; what is still of use stays."""

from __future__ import annotations

from lakehold.directory import invites, links, sign_ins, tokens
from lakehold.directory.cleanup import delete_expired
from lakehold.directory.links import SIGN_IN
from tests.directory.town import Town


def test_it_drops_what_has_ended(town: Town) -> None:
    bob = town.person("Bob")
    town.signed_in("Bob")
    with town.platform.write(town.olga) as ctx:
        links.create(ctx, town.platform.settings, "bob", SIGN_IN)
        invites.create(ctx, town.platform.settings, "new@example.org")
        tokens.create(ctx, "short", days=1)
        tokens.create(ctx, "long", days=None)
    assert delete_expired(town.platform) == 0
    town.clock.pass_by(15 * 86_400)
    assert (
        delete_expired(town.platform) == 1 + 1 + 2
    )  # the sign-in, the link, and the attempts of an account and an address
    with town.platform.read(bob) as ctx:
        assert sign_ins.list_of_member(ctx, "bob") == []
    with town.platform.read(town.olga) as ctx:
        assert {token.name for token in tokens.list_all(ctx)} == {"short", "long"}
        assert len(invites.page(ctx)) == 1
    town.clock.pass_by(30 * 86_400)
    assert delete_expired(town.platform) == 2
    with town.platform.read(town.olga) as ctx:
        assert [token.name for token in tokens.list_all(ctx)] == ["long"]
        assert invites.page(ctx) == []
