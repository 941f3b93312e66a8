"""A member leaves: what they own is handed over or left, nothing is deleted, and the last ones stay."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lakehold.access import Add, Edge, Grant, TokenPrincipal
from lakehold.directory import groups, member_removal, members, sign_ins, tokens
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, UnauthorizedError
from lakehold.directory.member_removal import OwnedRole
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
    with town.platform.write(town.olga) as ctx:
        ctx.session.store.add(Grant("bob", "business_owner", "orders"))
        ctx.session.store.add(Grant("bob", "holder", "emea"))
    return bob


OWNS = [
    ("marts.data_mart", "orders", "business_owner"),
    ("marts.data_mart", "orders", "technical_owner"),
    ("marts.storage", "storage", "owner"),
    ("spaces.connection", "erp", "owner"),
    ("spaces.space", "lab", "owner"),
]


def told(owned: tuple[OwnedRole, ...]) -> list[tuple[str, str, str]]:
    return [(one.kind, one.resource, one.role) for one in owned]


def test_a_preview_shows_what_they_own(town: Town) -> None:
    owner_of_much(town)
    town.signed_in("Bob")
    with town.platform.read(town.olga) as ctx:
        preview = member_removal.preview(ctx, "bob")
    assert told(preview.owns) == OWNS
    assert (preview.name, preview.sign_ins, preview.tokens) == ("Bob", 1, 0)


def test_what_they_own_is_handed_over(town: Town) -> None:
    owner_of_much(town)
    town.person("Cleo")
    with town.platform.write(town.admin()) as ctx:
        removed = member_removal.remove(ctx, "bob", receiver="cleo")
        assert (told(removed.moved), removed.left) == (OWNS, ())
        for _, resource, role in OWNS:
            assert Grant("cleo", role, resource) in ctx.grants(resource)
            assert Grant("bob", role, resource) not in ctx.grants(resource)
        assert ctx.grants("emea") == []
        assert members.tenant_roles(ctx, "cleo") == ()
    (entry,) = [entry for entry in town.log() if entry.action == "remove member"]
    assert entry.after["handed_over_to"] == "cleo"
    assert len(str(entry.after["handed_over"]).split(",")) == len(OWNS)


def test_or_left_without_an_owner_and_still_there(town: Town) -> None:
    owner_of_much(town)
    with town.platform.write(town.admin()) as ctx:
        removed = member_removal.remove(ctx, "bob")
        assert (removed.moved, told(removed.left)) == ((), OWNS)
        for _, resource, _ in OWNS:
            assert ctx.grants(resource) == []
            assert ctx.view.resource(resource)


def test_account_sign_ins_and_tokens_end_at_once(town: Town) -> None:
    bob = town.person("Bob")
    signed_in = town.signed_in("Bob")
    with town.platform.write(bob) as ctx:
        token = tokens.create(ctx, "ci")
    with town.platform.write(town.olga) as ctx:
        member_removal.remove(ctx, "bob")
    for ask in (
        lambda: sign_ins.authenticate(town.platform, signed_in.secret),
        lambda: tokens.authenticate(town.platform, token.secret),
        lambda: town.signed_in("Bob"),
    ):
        with pytest.raises(UnauthorizedError):
            ask()
    with town.platform.write(town.olga) as ctx:
        again = members.add(ctx, "Bob", email="bob@example.org")
        assert again != "bob"


def test_the_last_owner_cannot_leave(town: Town) -> None:
    with pytest.raises(ConflictError, match="last Owner"), town.platform.write(town.olga) as ctx:
        member_removal.remove(ctx, town.olga.member)
    olaf = town.person("Olaf", ("owner", town.tenant))
    with town.platform.write(olaf) as ctx:
        member_removal.remove(ctx, town.olga.member)
    with pytest.raises(ConflictError, match="last Owner"), town.platform.write(olaf) as ctx:
        member_removal.remove(ctx, "olaf")


def test_the_last_admin_cannot_leave(town: Town) -> None:
    adam = town.admin()
    for caller in (adam, town.olga):
        with pytest.raises(ConflictError, match="last Admin"), town.platform.write(caller) as ctx:
            member_removal.remove(ctx, "adam")
    town.admin("Ann")
    with town.platform.write(adam) as ctx:
        member_removal.remove(ctx, "adam")


def test_an_admin_by_a_group_counts_and_a_service_account_does_not(town: Town) -> None:
    adam = town.admin()
    town.person("Ann")
    with town.platform.write(town.olga) as ctx:
        nightly = members.create_service_account(ctx, "Nightly")
        members.give_tenant_role(ctx, nightly, "admin")
        groups.create(ctx, "Admins", uid="admins")
        members.give_tenant_role(ctx, "admins", "admin")
    with pytest.raises(ConflictError, match="last Admin"), town.platform.write(adam) as ctx:
        member_removal.remove(ctx, "adam")
    with town.platform.write(town.olga) as ctx:
        groups.add(ctx, "admins", "ann")
    with town.platform.write(adam) as ctx:
        member_removal.remove(ctx, "adam")


def test_an_owner_is_removed_by_owners_only(town: Town) -> None:
    town.person("Olaf", ("owner", town.tenant))
    adam = town.admin()
    town.refuses(
        adam,
        DeniedError,
        lambda ctx: member_removal.preview(ctx, "olaf"),
        lambda ctx: member_removal.remove(ctx, "olaf"),
    )
    with town.platform.write(town.olga) as ctx:
        member_removal.remove(ctx, "olaf")


def test_members_remove_nobody_but_themselves(town: Town) -> None:
    eve = town.person("Eve")
    town.person("Bob")
    town.refuses(
        eve, DeniedError, lambda ctx: member_removal.preview(ctx, "bob"), lambda ctx: member_removal.remove(ctx, "bob")
    )
    with town.platform.write(eve) as ctx:
        member_removal.remove(ctx, "eve")
    with pytest.raises(NotFoundError), town.platform.read(town.olga) as ctx:
        members.get(ctx, "eve")


def test_who_leaves_hands_over_what_they_may_give_away(town: Town) -> None:
    bob = owner_of_much(town)
    town.person("Cleo")
    with town.platform.write(bob) as ctx:
        removed = member_removal.remove(ctx, "bob", receiver="cleo")
    assert {one.resource for one in removed.moved} == {"orders", "storage"}
    assert {one.resource for one in removed.left} == {"erp", "lab"}


def test_bad_receivers(town: Town) -> None:
    town.person("Bob")
    town.made("tenant.group", "team", tenant=town.tenant)
    for wrong in ("bob", "nobody", "team", town.tenant):
        with pytest.raises((InvalidInputError, NotFoundError)), town.platform.write(town.olga) as ctx:
            member_removal.remove(ctx, "bob", receiver=wrong)
    with town.platform.read(town.olga) as ctx:
        assert ctx.view.member("bob")


def test_a_service_account_may_receive(town: Town) -> None:
    owner_of_much(town)
    with town.platform.write(town.olga) as ctx:
        nightly = members.create_service_account(ctx, "Nightly")
        assert len(member_removal.remove(ctx, "bob", receiver=nightly).moved) == len(OWNS)


def test_neither_a_narrowed_token_nor_who_views_as_another_removes_anybody(town: Town) -> None:
    adam = town.admin()
    town.person("Bob")
    narrowed = replace(adam, narrowed=TokenPrincipal("adam", actions=frozenset({"see", "delete"})))
    with pytest.raises(DeniedError), town.platform.write(narrowed) as ctx:
        member_removal.remove(ctx, "bob")
    with pytest.raises(ForbiddenError), town.platform.write(replace(adam, impersonator=town.olga.member)) as ctx:
        member_removal.remove(ctx, "bob")


def test_members_of_groups_leave_them(town: Town) -> None:
    town.person("Bob")
    with town.platform.write(town.olga) as ctx:
        groups.create(ctx, "Team", uid="team")
        ctx.make(Add(Edge("member_of", "bob", "team")))
        member_removal.remove(ctx, "bob")
        assert groups.get(ctx, "team").members == ()


def test_what_the_remover_may_not_see_moves_too_and_is_not_named(town: Town) -> None:
    town.person("Bob")
    town.person("Cleo")
    town.made("spaces.space", "lab", "cleo", tenant=town.tenant)
    town.made("spaces.app", "dashboard", "bob", space="lab")
    with town.platform.write(town.admin()) as ctx:
        preview = member_removal.preview(ctx, "bob")
        assert (preview.owns, preview.more) == ((), True)
        removed = member_removal.remove(ctx, "bob", receiver="cleo")
        assert (removed.moved, removed.left, removed.more) == ((), (), True)
        assert ctx.grants("dashboard") == [Grant("cleo", "owner", "dashboard")]
