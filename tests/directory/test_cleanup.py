"""What has ended long ago is dropped; what is still of use stays."""

from __future__ import annotations

from lakehold.directory import invites, links, sign_ins, tokens
from lakehold.directory.links import SIGN_IN
from lakehold.runs.scheduler.housekeeping import delete_expired
from tests.directory.acme import AcmePlatform


def test_it_drops_what_has_ended(acme: AcmePlatform) -> None:
    bob = acme.person("Bob")
    acme.sign_in("Bob")
    with acme.platform.write(acme.olga) as ctx:
        links.create(ctx, acme.platform.settings, "bob", SIGN_IN)
        invites.create(ctx, acme.platform.settings, "new@example.org")
        tokens.create(ctx, "short", days=1)
        tokens.create(ctx, "long", days=None)
    assert delete_expired(acme.platform) == 0
    acme.clock.advance(15 * 86_400)
    assert (
        delete_expired(acme.platform) == 1 + 1 + 2
    )  # the sign-in, the link, and the attempts of an account and an address
    with acme.platform.read(bob) as ctx:
        assert sign_ins.list_of_member(ctx, "bob") == []
    with acme.platform.read(acme.olga) as ctx:
        assert {token.name for token in tokens.list_all(ctx)} == {"short", "long"}
        assert len(invites.page(ctx)) == 1
    acme.clock.advance(30 * 86_400)
    assert delete_expired(acme.platform) == 2
    with acme.platform.read(acme.olga) as ctx:
        assert [token.name for token in tokens.list_all(ctx)] == ["long"]
        assert invites.page(ctx) == []
