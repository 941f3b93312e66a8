"""API tokens: shown once, narrowed, last used, living with their member, revoked at once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lakehold.access import Add, Grant, Remove
from lakehold.directory import member_removal, members, secret_tokens, tokens
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, HiddenError, UnauthorizedError
from lakehold.kit.clock import DAY, FOREVER
from lakehold.kit.errors import ConflictError, ForbiddenError, LakeholdError, NotFoundError
from tests.directory.town import Town


def made(town: Town, caller: Caller, name: str = "ci", **wanted: object) -> tokens.CreatedToken:
    with town.platform.write(caller) as ctx:
        return tokens.create(ctx, name, **wanted)  # type: ignore[arg-type]


def is_valid(town: Town, secret: str) -> bool:
    try:
        return bool(tokens.authenticate(town.platform, secret))
    except UnauthorizedError:
        return False


def test_it_acts_as_its_member(town: Town) -> None:
    bob = town.person("Bob")
    token = made(town, bob)
    caller = tokens.authenticate(town.platform, token.secret)
    assert (caller.tenant, caller.member, caller.token_id, caller.narrowed) == ("acme", "bob", token.token.id, None)
    assert token.secret.startswith("lh_")
    assert token.secret.startswith(token.token.prefix)


def test_it_is_shown_once_and_kept_as_a_hash(town: Town) -> None:
    bob = town.person("Bob")
    token = made(town, bob)
    assert token.secret not in repr(token)
    assert token.secret not in str(town.log())
    with town.platform.read(bob) as ctx:
        assert token.secret not in repr(tokens.list_of_member(ctx, "bob"))
    with town.platform.database.read() as transaction:
        row = transaction.connection.exec_driver_sql("SELECT * FROM token").one()
    assert token.secret not in str(row)
    assert token.secret[-38:] not in str(row)


def test_it_lives_with_its_members_rights(town: Town) -> None:
    adam = town.admin()
    caller = tokens.authenticate(town.platform, made(town, adam).secret)
    with town.platform.read(caller) as ctx:
        ctx.need("manage_members", town.tenant)
    with town.platform.write(town.olga) as ctx:
        members.take_tenant_role(ctx, "adam", "admin")
    with pytest.raises(DeniedError), town.platform.read(caller) as ctx:
        ctx.need("manage_members", town.tenant)


def test_it_is_narrowed_to_actions_and_resources(town: Town) -> None:
    town.made("lakehouse.lakehouse", "lake", tenant=town.tenant)
    town.made("lakehouse.layer", "raw", lakehouse="lake")
    adam = town.admin()
    caller = tokens.authenticate(town.platform, made(town, adam, actions=["see", "edit"], resources=["raw"]).secret)
    with town.platform.read(caller) as ctx:
        ctx.need("edit", "raw")
    for action, resource in (("delete", "raw"), ("see", "lake"), ("manage_members", town.tenant)):
        with pytest.raises((DeniedError, HiddenError)), town.platform.read(caller) as ctx:
            ctx.need(action, resource)


def test_a_narrowed_one_makes_no_tokens_and_sees_none(town: Town) -> None:
    bob = town.person("Bob")
    token = made(town, bob, actions=["see"])
    narrowed = tokens.authenticate(town.platform, token.secret)
    town.refuses(
        narrowed,
        DeniedError,
        lambda ctx: tokens.create(ctx, "more"),
        lambda ctx: tokens.list_of_member(ctx, "bob"),
        tokens.list_all,
        lambda ctx: tokens.get(ctx, token.token.id),
        lambda ctx: tokens.revoke(ctx, token.token.id),
        match="narrowed token",
    )
    assert town.deeds()[-1][1:] == ("see tokens", "bob", "denied")


def test_one_that_is_not_narrowed_makes_tokens_that_end_no_later(town: Town) -> None:
    bob = town.person("Bob")
    caller = tokens.authenticate(town.platform, made(town, bob, days=3).secret)
    assert made(town, caller, days=2).token.until == town.clock() + 2 * DAY
    assert made(town, caller, days=30).token.until == town.clock() + 3 * DAY
    assert made(town, caller, days=None).token.until == town.clock() + 3 * DAY
    assert made(town, bob, days=None).token.until == FOREVER


@pytest.mark.parametrize(
    ("wanted", "says"),
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
def test_bad_input(town: Town, wanted: dict[str, object], says: str) -> None:
    with pytest.raises(LakeholdError) as refused:
        made(town, town.olga, **{"name": "ci", **wanted})  # type: ignore[arg-type]
    assert says in str(refused.value)
    with town.platform.read(town.olga) as ctx:
        assert tokens.list_all(ctx) == []


def test_it_cannot_be_narrowed_to_what_its_maker_may_not_see(town: Town) -> None:
    town.project("secret")
    bob = town.person("Bob")
    with pytest.raises(HiddenError) as hidden:
        made(town, bob, resources=["secret"])
    with pytest.raises(NotFoundError) as missing:
        made(town, bob, resources=["nothing"])
    assert str(hidden.value).replace("secret", "nothing") == str(missing.value)


def test_it_ends_by_itself_and_stays_in_the_list(town: Town) -> None:
    bob = town.person("Bob")
    token = made(town, bob, days=1)
    town.clock.pass_by(86_399)
    assert is_valid(town, token.secret)
    town.clock.pass_by(1)
    assert not is_valid(town, token.secret)
    with town.platform.read(bob) as ctx:
        assert [one.id for one in tokens.list_of_member(ctx, "bob")] == [token.token.id]


def test_one_is_revoked_at_once_by_its_member(town: Town) -> None:
    bob, eve = town.person("Bob"), town.person("Eve")
    token = made(town, bob)
    with pytest.raises(NotFoundError) as other, town.platform.write(eve) as ctx:
        tokens.revoke(ctx, token.token.id)
    with pytest.raises(NotFoundError) as missing, town.platform.write(eve) as ctx:
        tokens.revoke(ctx, "nothing")
    assert str(other.value).replace(token.token.id, "nothing") == str(missing.value)
    assert is_valid(town, token.secret)
    with town.platform.write(bob) as ctx:
        tokens.revoke(ctx, token.token.id)
    assert not is_valid(town, token.secret)
    assert town.deeds()[-1] == ("bob", "revoke token", "bob", "done")


def test_admins_list_and_revoke_all(town: Town) -> None:
    adam, bob, eve = town.admin(), town.person("Bob"), town.person("Eve")
    ids = []
    for caller in (bob, eve, bob):
        town.clock.pass_by(1)
        ids.append(made(town, caller).token.id)
    with town.platform.write(adam) as ctx:
        first = tokens.list_all(ctx, limit=2)
        rest = tokens.list_all(ctx, limit=2, after=(first[-1].made_at, first[-1].id))
        assert [one.id for one in (*first, *rest)] == ids[::-1]
        assert [one.id for one in tokens.list_of_member(ctx, "eve")] == [ids[1]]
        tokens.revoke(ctx, ids[1])
    town.refuses(bob, DeniedError, tokens.list_all, lambda ctx: tokens.list_of_member(ctx, "eve"))


def test_when_it_was_last_used_is_written_once_a_minute(town: Town) -> None:
    bob = town.person("Bob")
    token = made(town, bob)

    def used_at() -> int:
        with town.platform.read(bob) as ctx:
            return tokens.list_of_member(ctx, "bob")[0].used_at

    assert used_at() == 0
    first = town.clock()
    with town.platform.database.read() as transaction:
        # In the transaction of a request it is only remembered.
        assert tokens.find_caller(town.platform, transaction, token.secret)
    assert used_at() == 0
    assert town.platform.last_used.flush(town.platform.database) == 1
    assert used_at() == first
    town.clock.pass_by(59)
    tokens.authenticate(town.platform, token.secret)
    assert used_at() == first
    town.clock.pass_by(1)
    tokens.authenticate(town.platform, token.secret)
    assert used_at() == town.clock()


def test_those_of_a_removed_member_are_refused_in_the_same_words(town: Town) -> None:
    bob = town.person("Bob")
    token, gone = made(town, bob), made(town, bob)
    with town.platform.write(bob) as ctx:
        tokens.revoke(ctx, gone.token.id)
    with town.platform.write(town.olga) as ctx:
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
            tokens.authenticate(town.platform, secret)
        answers.add(str(refused.value))
    assert len(answers) == 1


def test_those_of_a_member_who_was_deleted_by_the_facts_alone_are_refused_too(town: Town) -> None:
    bob = town.person("Bob")
    token = made(town, bob)
    with town.platform.write(town.olga) as ctx:
        ctx.session.store.delete("bob")
    assert not is_valid(town, token.secret)


def test_a_hundred_are_enough(town: Town) -> None:
    bob = town.person("Bob")
    with town.platform.write(bob) as ctx:
        for n in range(100):
            tokens.create(ctx, f"token {n}")
    with pytest.raises(ConflictError, match="100 tokens"):
        made(town, bob)


def test_nobody_makes_one_for_another_person(town: Town) -> None:
    town.person("Bob")
    with pytest.raises(ConflictError, match="is a person"):
        made(town, town.admin(), member="bob")
    with pytest.raises(DeniedError):
        made(town, town.person("Eve"), member="bob")


def test_who_views_as_another_makes_none(town: Town) -> None:
    bob = town.person("Bob")
    with pytest.raises(ForbiddenError):
        made(town, replace(bob, impersonator=town.olga.member))


# Service accounts


def test_an_admin_keeps_service_accounts_and_makes_their_tokens(town: Town) -> None:
    adam = town.admin()
    with town.platform.write(adam) as ctx:
        nightly = members.create_service_account(ctx, "Nightly")
        members.give_tenant_role(ctx, nightly, "viewer")
    caller = tokens.authenticate(town.platform, made(town, adam, member=nightly).secret)
    assert caller.member == nightly
    with town.platform.read(adam) as ctx:
        (told,) = members.list_service_accounts(ctx)
        assert (told.uid, told.service, told.roles) == (nightly, True, ("viewer",))
        assert [one.made_by for one in tokens.list_of_member(ctx, nightly)] == ["adam"]
    town.refuses(
        town.person("Eve"),
        DeniedError,
        lambda ctx: members.create_service_account(ctx, "Mine"),
        members.list_service_accounts,
    )


def test_an_admin_makes_no_token_for_one_that_is_owner(town: Town) -> None:
    adam = town.admin()
    with town.platform.write(town.olga) as ctx:
        nightly = members.create_service_account(ctx, "Nightly")
        ctx.make(Add(Grant(nightly, "owner", town.tenant)))
    with pytest.raises(DeniedError):
        made(town, adam, member=nightly)
    made(town, town.olga, member=nightly)
    with town.platform.write(town.olga) as ctx:
        ctx.make(Remove(Grant(nightly, "owner", town.tenant)))
    made(town, adam, member=nightly)
