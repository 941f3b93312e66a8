"""A member leaves: what they own is handed over or left, nothing is deleted, and the last ones stay."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lakehold.access import Add, Edge, Grant, Token
from lakehold.directory import groups, members, removal, roles, service_accounts, sign_ins, tokens
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, UnauthorizedError
from lakehold.directory.ownership import Owned
from lakehold.kit.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError
from tests.directory.town import Town


def owner_of_much(town: Town) -> Caller:
    """Bob owns a storage, a data mart in two ways, and a data space with a connection; and holds more besides."""
    town.project("sales")
    bob = town.person("Bob", ("technical_user", "sales"), ("viewer", town.tenant))
    town.made("marts.storage", "storage", "bob", project="sales")
    town.made("marts.data_mart", "orders", "bob", project="sales", storage="storage")
    town.made("marts.context", "emea", project="sales")
    town.made("spaces.space", "lab", "bob", tenant=town.tenant)
    town.made("spaces.connection", "erp", "bob", space="lab")
    with town.house.write(town.olga) as work:
        work.session.store.add(Grant("bob", "business_owner", "orders"))
        work.session.store.add(Grant("bob", "holder", "emea"))
    return bob


OWNS = [
    ("marts.data_mart", "orders", "business_owner"),
    ("marts.data_mart", "orders", "technical_owner"),
    ("marts.storage", "storage", "owner"),
    ("spaces.connection", "erp", "owner"),
    ("spaces.space", "lab", "owner"),
]


def told(owned: tuple[Owned, ...]) -> list[tuple[str, str, str]]:
    return [(one.kind, one.resource, one.role) for one in owned]


def test_a_preview_shows_what_they_own(town: Town) -> None:
    owner_of_much(town)
    town.signed_in("Bob")
    with town.house.read(town.olga) as work:
        preview = removal.preview(work, "bob")
    assert told(preview.owns) == OWNS
    assert (preview.name, preview.sign_ins, preview.tokens) == ("Bob", 1, 0)


def test_what_they_own_is_handed_over(town: Town) -> None:
    owner_of_much(town)
    town.person("Cleo")
    with town.house.write(town.admin()) as work:
        removed = removal.remove(work, "bob", receiver="cleo")
        assert (told(removed.moved), removed.left) == (OWNS, ())
        for _, resource, role in OWNS:
            assert Grant("cleo", role, resource) in work.grants(resource)
            assert Grant("bob", role, resource) not in work.grants(resource)
        assert work.grants("emea") == []
        assert roles.of(work, "cleo") == ()
    (entry,) = [entry for entry in town.log() if entry.action == "remove member"]
    assert entry.after["handed_over_to"] == "cleo"
    assert len(str(entry.after["handed_over"]).split(",")) == len(OWNS)


def test_or_left_without_an_owner_and_still_there(town: Town) -> None:
    owner_of_much(town)
    with town.house.write(town.admin()) as work:
        removed = removal.remove(work, "bob")
        assert (removed.moved, told(removed.left)) == ((), OWNS)
        for _, resource, _ in OWNS:
            assert work.grants(resource) == []
            assert work.view.resource(resource)


def test_account_sign_ins_and_tokens_end_at_once(town: Town) -> None:
    bob = town.person("Bob")
    signed_in = town.signed_in("Bob")
    with town.house.write(bob) as work:
        token = tokens.make(work, "ci")
    with town.house.write(town.olga) as work:
        removal.remove(work, "bob")
    for ask in (
        lambda: sign_ins.caller(town.house, signed_in.secret),
        lambda: tokens.caller(town.house, token.secret),
        lambda: town.signed_in("Bob"),
    ):
        with pytest.raises(UnauthorizedError):
            ask()
    with town.house.write(town.olga) as work:
        again = members.add(work, "Bob", email="bob@example.org")
        assert again != "bob"


def test_the_last_owner_cannot_leave(town: Town) -> None:
    with pytest.raises(ConflictError, match="last Owner"), town.house.write(town.olga) as work:
        removal.remove(work, town.olga.member)
    olaf = town.person("Olaf", ("owner", town.tenant))
    with town.house.write(olaf) as work:
        removal.remove(work, town.olga.member)
    with pytest.raises(ConflictError, match="last Owner"), town.house.write(olaf) as work:
        removal.remove(work, "olaf")


def test_the_last_admin_cannot_leave(town: Town) -> None:
    adam = town.admin()
    for caller in (adam, town.olga):
        with pytest.raises(ConflictError, match="last Admin"), town.house.write(caller) as work:
            removal.remove(work, "adam")
    town.admin("Ann")
    with town.house.write(adam) as work:
        removal.remove(work, "adam")


def test_an_admin_by_a_group_counts_and_a_service_account_does_not(town: Town) -> None:
    adam = town.admin()
    town.person("Ann")
    with town.house.write(town.olga) as work:
        nightly = service_accounts.create(work, "Nightly")
        roles.give(work, nightly, "admin")
        groups.create(work, "Admins", uid="admins")
        roles.give(work, "admins", "admin")
    with pytest.raises(ConflictError, match="last Admin"), town.house.write(adam) as work:
        removal.remove(work, "adam")
    with town.house.write(town.olga) as work:
        groups.add(work, "admins", "ann")
    with town.house.write(adam) as work:
        removal.remove(work, "adam")


def test_an_owner_is_removed_by_owners_only(town: Town) -> None:
    town.person("Olaf", ("owner", town.tenant))
    adam = town.admin()
    town.refuses(
        adam, DeniedError, lambda work: removal.preview(work, "olaf"), lambda work: removal.remove(work, "olaf")
    )
    with town.house.write(town.olga) as work:
        removal.remove(work, "olaf")


def test_members_remove_nobody_but_themselves(town: Town) -> None:
    eve = town.person("Eve")
    town.person("Bob")
    town.refuses(eve, DeniedError, lambda work: removal.preview(work, "bob"), lambda work: removal.remove(work, "bob"))
    with town.house.write(eve) as work:
        removal.remove(work, "eve")
    with pytest.raises(NotFoundError), town.house.read(town.olga) as work:
        members.one(work, "eve")


def test_who_leaves_hands_over_what_they_may_give_away(town: Town) -> None:
    bob = owner_of_much(town)
    town.person("Cleo")
    with town.house.write(bob) as work:
        removed = removal.remove(work, "bob", receiver="cleo")
    assert {one.resource for one in removed.moved} == {"orders", "storage"}
    assert {one.resource for one in removed.left} == {"erp", "lab"}


def test_bad_receivers(town: Town) -> None:
    town.person("Bob")
    town.made("tenant.group", "team", tenant=town.tenant)
    for wrong in ("bob", "nobody", "team", town.tenant):
        with pytest.raises((InvalidInputError, NotFoundError)), town.house.write(town.olga) as work:
            removal.remove(work, "bob", receiver=wrong)
    with town.house.read(town.olga) as work:
        assert work.view.member("bob")


def test_a_service_account_may_receive(town: Town) -> None:
    owner_of_much(town)
    with town.house.write(town.olga) as work:
        nightly = service_accounts.create(work, "Nightly")
        assert len(removal.remove(work, "bob", receiver=nightly).moved) == len(OWNS)


def test_neither_a_narrowed_token_nor_who_views_as_another_removes_anybody(town: Town) -> None:
    adam = town.admin()
    town.person("Bob")
    narrowed = replace(adam, narrowed=Token("adam", actions=frozenset({"see", "delete"})))
    with pytest.raises(DeniedError), town.house.write(narrowed) as work:
        removal.remove(work, "bob")
    with pytest.raises(ForbiddenError), town.house.write(replace(adam, behind=town.olga.member)) as work:
        removal.remove(work, "bob")


def test_members_of_groups_leave_them(town: Town) -> None:
    town.person("Bob")
    with town.house.write(town.olga) as work:
        groups.create(work, "Team", uid="team")
        work.make(Add(Edge("member_of", "bob", "team")))
        removal.remove(work, "bob")
        assert groups.one(work, "team").members == ()


def test_what_the_remover_may_not_see_moves_too_and_is_not_named(town: Town) -> None:
    town.person("Bob")
    town.person("Cleo")
    town.made("spaces.space", "lab", "cleo", tenant=town.tenant)
    town.made("spaces.app", "dashboard", "bob", space="lab")
    with town.house.write(town.admin()) as work:
        preview = removal.preview(work, "bob")
        assert (preview.owns, preview.more) == ((), True)
        removed = removal.remove(work, "bob", receiver="cleo")
        assert (removed.moved, removed.left, removed.more) == ((), (), True)
        assert work.grants("dashboard") == [Grant("cleo", "owner", "dashboard")]
