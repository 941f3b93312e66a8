"""API tokens: shown once, narrowed, last used, living with their member, revoked at once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lakehold.access import Grant, Remove
from lakehold.directory import member_removal, members, secret_tokens, tokens
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, HiddenError, UnauthorizedError
from lakehold.kit.clock import DAY, FOREVER
from lakehold.kit.errors import ConflictError, ForbiddenError, LakeholdError, NotFoundError
from tests.directory.acme import AcmePlatform


def made(acme: AcmePlatform, caller: Caller, name: str = "ci", **options: object) -> tokens.CreatedToken:
    with acme.platform.write(caller) as ctx:
        return tokens.create(ctx, name, **options)  # type: ignore[arg-type]


def is_valid(acme: AcmePlatform, secret: str) -> bool:
    try:
        return bool(acme.authenticate_token(secret))
    except UnauthorizedError:
        return False


def test_it_acts_as_its_member(acme: AcmePlatform) -> None:
    bob = acme.person("Bob")
    token = made(acme, bob)
    caller = acme.authenticate_token(token.secret)
    assert (caller.tenant, caller.member, caller.token_id, caller.narrowed) == ("acme", "bob", token.token.id, None)
    assert token.secret.startswith("lh_")
    assert token.secret.startswith(token.token.prefix)


def test_it_is_shown_once_and_kept_as_a_hash(acme: AcmePlatform) -> None:
    bob = acme.person("Bob")
    token = made(acme, bob)
    assert token.secret not in repr(token)
    assert token.secret not in str(acme.log())
    with acme.platform.read(bob) as ctx:
        assert token.secret not in repr(tokens.list_of_member(ctx, "bob"))
    with acme.platform.database.read() as transaction:
        row = transaction.connection.exec_driver_sql("SELECT * FROM token").one()
    assert token.secret not in str(row)
    assert token.secret[-38:] not in str(row)


def test_it_lives_with_its_members_rights(acme: AcmePlatform) -> None:
    adam = acme.admin()
    caller = acme.authenticate_token(made(acme, adam).secret)
    with acme.platform.read(caller) as ctx:
        ctx.need("manage_members", acme.tenant)
    with acme.platform.write(acme.olga) as ctx:
        members.take_tenant_role(ctx, "adam", "admin")
    with pytest.raises(DeniedError), acme.platform.read(caller) as ctx:
        ctx.need("manage_members", acme.tenant)


def test_it_is_narrowed_to_actions_and_resources(acme: AcmePlatform) -> None:
    acme.create_resource("lakehouse.lakehouse", "lake", tenant=acme.tenant)
    acme.create_resource("lakehouse.layer", "raw", lakehouse="lake")
    adam = acme.admin()
    caller = acme.authenticate_token(made(acme, adam, actions=["see", "edit"], resources=["raw"]).secret)
    with acme.platform.read(caller) as ctx:
        ctx.need("edit", "raw")
    for action, resource in (("delete", "raw"), ("see", "lake"), ("manage_members", acme.tenant)):
        with pytest.raises((DeniedError, HiddenError)), acme.platform.read(caller) as ctx:
            ctx.need(action, resource)


def test_a_narrowed_one_makes_no_tokens_and_sees_none(acme: AcmePlatform) -> None:
    bob = acme.person("Bob")
    token = made(acme, bob, actions=["see"])
    narrowed = acme.authenticate_token(token.secret)
    acme.refuses(
        narrowed,
        DeniedError,
        lambda ctx: tokens.create(ctx, "more"),
        lambda ctx: tokens.list_of_member(ctx, "bob"),
        tokens.list_all,
        lambda ctx: tokens.get(ctx, token.token.id),
        lambda ctx: tokens.revoke(ctx, token.token.id),
        match="narrowed token",
    )
    assert acme.audit_summary()[-1][1:] == ("see tokens", "bob", "denied")


def test_one_that_is_not_narrowed_makes_tokens_that_end_no_later(acme: AcmePlatform) -> None:
    bob = acme.person("Bob")
    caller = acme.authenticate_token(made(acme, bob, days=3).secret)
    assert made(acme, caller, days=2).token.until == acme.clock() + 2 * DAY
    assert made(acme, caller, days=30).token.until == acme.clock() + 3 * DAY
    assert made(acme, caller, days=None).token.until == acme.clock() + 3 * DAY
    assert made(acme, bob, days=None).token.until == FOREVER


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"actions": ["see", "edti"]}, "No kind has an action 'edti'. Did you mean 'edit'?"),
        ({"actions": []}, "narrowed to 1 to 100 actions"),
        ({"actions": "see"}, "narrowed to 1 to 100 actions"),
        ({"resources": []}, "narrowed to 1 to 100 resources"),
        ({"resources": ["nothing"]}, "There is no resource 'nothing'"),
        ({"days": 0}, "1 to 3,650 days"),
        ({"days": 4_000}, "1 to 3,650 days"),
        ({"days": "7"}, "1 to 3,650 days"),
        ({"days": True}, "1 to 3,650 days"),
        ({"name": ""}, "name must not be empty"),
        ({"name": "a\0b"}, "control character"),
        ({"member": "nobody"}, "There is no resource 'nobody'"),
    ],
)
def test_bad_input(acme: AcmePlatform, options: dict[str, object], says: str) -> None:
    with pytest.raises(LakeholdError) as refused:
        made(acme, acme.olga, **{"name": "ci", **options})  # type: ignore[arg-type]
    assert says in str(refused.value)
    with acme.platform.read(acme.olga) as ctx:
        assert tokens.list_all(ctx) == []


def test_it_cannot_be_narrowed_to_what_its_maker_may_not_see(acme: AcmePlatform) -> None:
    acme.project("secret")
    bob = acme.person("Bob")
    with pytest.raises(HiddenError) as hidden:
        made(acme, bob, resources=["secret"])
    with pytest.raises(NotFoundError) as missing:
        made(acme, bob, resources=["nothing"])
    assert str(hidden.value).replace("secret", "nothing") == str(missing.value)


def test_it_ends_by_itself_and_stays_in_the_list(acme: AcmePlatform) -> None:
    bob = acme.person("Bob")
    token = made(acme, bob, days=1)
    acme.clock.advance(86_399)
    assert is_valid(acme, token.secret)
    acme.clock.advance(1)
    assert not is_valid(acme, token.secret)
    with acme.platform.read(bob) as ctx:
        assert [one.id for one in tokens.list_of_member(ctx, "bob")] == [token.token.id]


def test_one_is_revoked_at_once_by_its_member(acme: AcmePlatform) -> None:
    bob, eve = acme.person("Bob"), acme.person("Eve")
    token = made(acme, bob)
    with pytest.raises(NotFoundError) as other, acme.platform.write(eve) as ctx:
        tokens.revoke(ctx, token.token.id)
    with pytest.raises(NotFoundError) as missing, acme.platform.write(eve) as ctx:
        tokens.revoke(ctx, "nothing")
    assert str(other.value).replace(token.token.id, "nothing") == str(missing.value)
    assert is_valid(acme, token.secret)
    with acme.platform.write(bob) as ctx:
        tokens.revoke(ctx, token.token.id)
    assert not is_valid(acme, token.secret)
    assert acme.audit_summary()[-1] == ("bob", "revoke token", "bob", "done")


def test_admins_list_and_revoke_all(acme: AcmePlatform) -> None:
    adam, bob, eve = acme.admin(), acme.person("Bob"), acme.person("Eve")
    ids = []
    for caller in (bob, eve, bob):
        acme.clock.advance(1)
        ids.append(made(acme, caller).token.id)
    with acme.platform.write(adam) as ctx:
        first = tokens.list_all(ctx, limit=2)
        rest = tokens.list_all(ctx, limit=2, after=(first[-1].made_at, first[-1].id))
        assert [one.id for one in (*first, *rest)] == ids[::-1]
        assert [one.id for one in tokens.list_of_member(ctx, "eve")] == [ids[1]]
        tokens.revoke(ctx, ids[1])
    acme.refuses(bob, DeniedError, tokens.list_all, lambda ctx: tokens.list_of_member(ctx, "eve"))


def test_when_it_was_last_used_is_written_once_a_minute(acme: AcmePlatform) -> None:
    bob = acme.person("Bob")
    token = made(acme, bob)

    def used_at() -> int:
        with acme.platform.read(bob) as ctx:
            return tokens.list_of_member(ctx, "bob")[0].used_at

    assert used_at() == 0
    first = acme.clock()
    with acme.platform.database.read() as transaction:
        # In the transaction of a request it is only remembered.
        assert tokens.find_caller(acme.platform, transaction, token.secret)
    assert used_at() == 0
    assert acme.platform.last_used.flush(acme.platform.database) == 1
    assert used_at() == first
    acme.clock.advance(59)
    acme.authenticate_token(token.secret)
    assert used_at() == first
    acme.clock.advance(1)
    acme.authenticate_token(token.secret)
    assert used_at() == acme.clock()


def test_those_of_a_removed_member_are_refused_in_the_same_words(acme: AcmePlatform) -> None:
    bob = acme.person("Bob")
    token, gone = made(acme, bob), made(acme, bob)
    with acme.platform.write(bob) as ctx:
        tokens.revoke(ctx, gone.token.id)
    with acme.platform.write(acme.olga) as ctx:
        member_removal.remove(ctx, "bob")
    answers = set()
    for secret in (
        token.secret,
        gone.secret,
        secret_tokens.generate(secret_tokens.TOKEN, token.token.id).text,
        secret_tokens.generate(secret_tokens.TOKEN).text,
        "lh_",
        "",
        "\0",
        "\ud800",
    ):
        with pytest.raises(UnauthorizedError) as refused:
            acme.authenticate_token(secret)
        answers.add(str(refused.value))
    assert len(answers) == 1


def test_those_of_a_member_who_was_deleted_by_the_facts_alone_are_refused_too(acme: AcmePlatform) -> None:
    bob = acme.person("Bob")
    token = made(acme, bob)
    with acme.platform.write(acme.olga) as ctx:
        ctx.session.store.delete("bob")
    assert not is_valid(acme, token.secret)


def test_a_hundred_are_enough(acme: AcmePlatform) -> None:
    bob = acme.person("Bob")
    with acme.platform.write(bob) as ctx:
        for n in range(100):
            tokens.create(ctx, f"token {n}")
    with pytest.raises(ConflictError, match="100 tokens"):
        made(acme, bob)


def test_nobody_makes_one_for_another_person(acme: AcmePlatform) -> None:
    acme.person("Bob")
    with pytest.raises(ConflictError, match="is a person"):
        made(acme, acme.admin(), member="bob")
    with pytest.raises(DeniedError):
        made(acme, acme.person("Eve"), member="bob")


def test_who_views_as_another_makes_none(acme: AcmePlatform) -> None:
    bob = acme.person("Bob")
    with pytest.raises(ForbiddenError):
        made(acme, replace(bob, impersonator=acme.olga.member))


# Service accounts


def test_an_admin_keeps_service_accounts_and_makes_their_tokens(acme: AcmePlatform) -> None:
    adam = acme.admin()
    with acme.platform.write(adam) as ctx:
        nightly = members.create_service_account(ctx, "Nightly")
        members.give_tenant_role(ctx, nightly, "viewer")
    caller = acme.authenticate_token(made(acme, adam, member=nightly).secret)
    assert caller.member == nightly
    with acme.platform.read(adam) as ctx:
        (account,) = members.list_service_accounts(ctx)
        assert (account.uid, account.service, account.roles) == (nightly, True, ("viewer",))
        assert [one.made_by for one in tokens.list_of_member(ctx, nightly)] == ["adam"]
    acme.refuses(
        acme.person("Eve"),
        DeniedError,
        lambda ctx: members.create_service_account(ctx, "Mine"),
        members.list_service_accounts,
    )


def test_an_admin_makes_no_token_for_one_that_is_owner(acme: AcmePlatform) -> None:
    adam = acme.admin()
    with acme.platform.write(acme.olga) as ctx:
        nightly = members.create_service_account(ctx, "Nightly")
        # As of an earlier release; none becomes Owner any more.
        ctx.session.store.add(Grant(nightly, "owner", acme.tenant))
    with pytest.raises(DeniedError):
        made(acme, adam, member=nightly)
    made(acme, acme.olga, member=nightly)
    with acme.platform.write(acme.olga) as ctx:
        ctx.make(Remove(Grant(nightly, "owner", acme.tenant)))
    made(acme, adam, member=nightly)
