"""A member leaves: what they own is handed over or left, nothing is deleted, and the last ones stay."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lakehold.access import Add, Attribute, Edge, Grant, TokenPrincipal
from lakehold.directory import groups, member_removal, members, sign_ins, tokens
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, UnauthorizedError
from lakehold.directory.member_removal import OwnedRole
from lakehold.kit.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError
from tests.directory.acme import AcmePlatform


def owner_of_much(acme: AcmePlatform) -> Caller:
    """Bob owns a storage, a data mart in two ways, and a data space with a connection; and holds more besides."""
    acme.project("sales")
    bob = acme.person("Bob", ("technical_user", "sales"), ("viewer", acme.tenant))
    acme.create_resource("marts.storage", "storage", "bob", project="sales")
    acme.create_resource("marts.data_mart", "orders", "bob", project="sales", storage="storage")
    acme.create_resource("marts.context", "emea", project="sales")
    acme.create_resource("spaces.space", "lab", "bob", tenant=acme.tenant)
    acme.create_resource("spaces.connection", "erp", "bob", space="lab")
    with acme.platform.write(acme.olga) as ctx:
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


def owned_summary(owned: tuple[OwnedRole, ...]) -> list[tuple[str, str, str]]:
    return [(one.kind, one.resource, one.role) for one in owned]


def test_a_preview_shows_what_they_own(acme: AcmePlatform) -> None:
    owner_of_much(acme)
    acme.sign_in("Bob")
    with acme.platform.read(acme.olga) as ctx:
        preview = member_removal.preview(ctx, "bob")
    assert owned_summary(preview.owns) == OWNS
    assert (preview.name, preview.sign_ins, preview.tokens) == ("Bob", 1, 0)


def test_what_they_own_is_handed_over(acme: AcmePlatform) -> None:
    owner_of_much(acme)
    acme.person("Cleo")
    with acme.platform.write(acme.admin()) as ctx:
        removed = member_removal.remove(ctx, "bob", receiver="cleo")
        assert (owned_summary(removed.moved), removed.left) == (OWNS, ())
        for _, resource, role in OWNS:
            assert Grant("cleo", role, resource) in ctx.grants(resource)
            assert Grant("bob", role, resource) not in ctx.grants(resource)
        assert ctx.grants("emea") == []
        assert members.tenant_roles(ctx, "cleo") == ()
    (entry,) = [entry for entry in acme.log() if entry.action == "remove member"]
    assert entry.after["handed_over_to"] == "cleo"
    assert len(str(entry.after["handed_over"]).split(",")) == len(OWNS)


def test_or_left_without_an_owner_and_still_there(acme: AcmePlatform) -> None:
    owner_of_much(acme)
    with acme.platform.write(acme.admin()) as ctx:
        removed = member_removal.remove(ctx, "bob")
        assert (removed.moved, owned_summary(removed.left)) == ((), OWNS)
        for _, resource, _ in OWNS:
            assert ctx.grants(resource) == []
            assert ctx.view.resource(resource)


def test_account_sign_ins_and_tokens_end_at_once(acme: AcmePlatform) -> None:
    bob = acme.person("Bob")
    signed_in = acme.sign_in("Bob")
    with acme.platform.write(bob) as ctx:
        token = tokens.create(ctx, "ci")
    with acme.platform.write(acme.olga) as ctx:
        member_removal.remove(ctx, "bob")
    for ask in (
        lambda: sign_ins.authenticate(acme.platform, signed_in.secret),
        lambda: acme.authenticate_token(token.secret),
        lambda: acme.sign_in("Bob"),
    ):
        with pytest.raises(UnauthorizedError):
            ask()
    with acme.platform.write(acme.olga) as ctx:
        again = members.add(ctx, "Bob", email="bob@example.org")
        assert again != "bob"


def test_the_last_owner_cannot_leave(acme: AcmePlatform) -> None:
    with pytest.raises(ConflictError, match="last Owner"), acme.platform.write(acme.olga) as ctx:
        member_removal.remove(ctx, acme.olga.member)
    olaf = acme.person("Olaf", ("owner", acme.tenant))
    with acme.platform.write(olaf) as ctx:
        member_removal.remove(ctx, acme.olga.member)
    with pytest.raises(ConflictError, match="last Owner"), acme.platform.write(olaf) as ctx:
        member_removal.remove(ctx, "olaf")


def test_the_last_admin_cannot_leave(acme: AcmePlatform) -> None:
    adam = acme.admin()
    for caller in (adam, acme.olga):
        with pytest.raises(ConflictError, match="last Admin"), acme.platform.write(caller) as ctx:
            member_removal.remove(ctx, "adam")
    acme.admin("Ann")
    with acme.platform.write(adam) as ctx:
        member_removal.remove(ctx, "adam")


def test_an_admin_by_a_group_counts_and_a_service_account_does_not(acme: AcmePlatform) -> None:
    adam = acme.admin()
    acme.person("Ann")
    with acme.platform.write(acme.olga) as ctx:
        nightly = members.create_service_account(ctx, "Nightly")
        members.give_tenant_role(ctx, nightly, "admin")
        groups.create(ctx, "Admins", uid="admins")
        members.give_tenant_role(ctx, "admins", "admin")
    with pytest.raises(ConflictError, match="last Admin"), acme.platform.write(adam) as ctx:
        member_removal.remove(ctx, "adam")
    with acme.platform.write(acme.olga) as ctx:
        groups.add(ctx, "admins", "ann")
    with acme.platform.write(adam) as ctx:
        member_removal.remove(ctx, "adam")


def test_an_owner_is_removed_by_owners_only(acme: AcmePlatform) -> None:
    acme.person("Olaf", ("owner", acme.tenant))
    adam = acme.admin()
    acme.refuses(
        adam,
        DeniedError,
        lambda ctx: member_removal.preview(ctx, "olaf"),
        lambda ctx: member_removal.remove(ctx, "olaf"),
        lambda ctx: ctx.delete("olaf"),
    )
    with acme.platform.write(acme.olga) as ctx:
        member_removal.remove(ctx, "olaf")


def test_members_remove_nobody_but_themselves(acme: AcmePlatform) -> None:
    eve = acme.person("Eve")
    acme.person("Bob")
    acme.refuses(
        eve, DeniedError, lambda ctx: member_removal.preview(ctx, "bob"), lambda ctx: member_removal.remove(ctx, "bob")
    )
    with acme.platform.write(eve) as ctx:
        member_removal.remove(ctx, "eve")
    with pytest.raises(NotFoundError), acme.platform.read(acme.olga) as ctx:
        members.get(ctx, "eve")


def test_who_leaves_hands_over_what_they_may_give_away(acme: AcmePlatform) -> None:
    bob = owner_of_much(acme)
    acme.person("Cleo")
    with acme.platform.write(bob) as ctx:
        removed = member_removal.remove(ctx, "bob", receiver="cleo")
    assert {one.resource for one in removed.moved} == {"orders", "storage"}
    assert {one.resource for one in removed.left} == {"erp", "lab"}


def test_bad_receivers(acme: AcmePlatform) -> None:
    acme.person("Bob")
    acme.create_resource("tenant.group", "team", tenant=acme.tenant)
    for wrong in ("bob", "nobody", "team", acme.tenant):
        with pytest.raises((InvalidInputError, NotFoundError)), acme.platform.write(acme.olga) as ctx:
            member_removal.remove(ctx, "bob", receiver=wrong)
    with acme.platform.read(acme.olga) as ctx:
        assert ctx.view.member("bob")


def test_a_service_account_may_receive(acme: AcmePlatform) -> None:
    owner_of_much(acme)
    with acme.platform.write(acme.olga) as ctx:
        nightly = members.create_service_account(ctx, "Nightly")
        assert len(member_removal.remove(ctx, "bob", receiver=nightly).moved) == len(OWNS)


def test_neither_a_narrowed_token_nor_who_views_as_another_removes_anybody(acme: AcmePlatform) -> None:
    adam = acme.admin()
    acme.person("Bob")
    narrowed = replace(adam, narrowed=TokenPrincipal("adam", actions=frozenset({"see", "delete"})))
    with pytest.raises(DeniedError), acme.platform.write(narrowed) as ctx:
        member_removal.remove(ctx, "bob")
    with acme.platform.read(narrowed) as ctx:
        assert not ctx.session.check(ctx.principal, "delete", "bob")
    with pytest.raises(ForbiddenError), acme.platform.write(replace(adam, impersonator=acme.olga.member)) as ctx:
        member_removal.remove(ctx, "bob")


def test_members_of_groups_leave_them(acme: AcmePlatform) -> None:
    acme.person("Bob")
    with acme.platform.write(acme.olga) as ctx:
        groups.create(ctx, "Team", uid="team")
        ctx.make(Add(Edge("member_of", "bob", "team")))
        member_removal.remove(ctx, "bob")
        assert groups.get(ctx, "team").members == ()


def test_what_the_remover_may_not_see_moves_too_and_is_not_named(acme: AcmePlatform) -> None:
    acme.person("Bob")
    acme.person("Cleo")
    acme.create_resource("spaces.space", "lab", "cleo", tenant=acme.tenant)
    acme.create_resource("spaces.app", "dashboard", "bob", space="lab")
    with acme.platform.write(acme.admin()) as ctx:
        ctx.session.store.add(Attribute("lab", "personal", "true"))
        preview = member_removal.preview(ctx, "bob")
        assert (preview.owns, preview.more) == ((), True)
        removed = member_removal.remove(ctx, "bob", receiver="cleo")
        assert (removed.moved, removed.left, removed.more) == ((), (), True)
        assert ctx.grants("dashboard") == [Grant("cleo", "owner", "dashboard")]


def test_what_nobody_may_give_away_is_left(acme: AcmePlatform) -> None:
    acme.person("Bob")
    acme.person("Cleo")
    acme.create_resource("spaces.space", "lab", "bob", tenant=acme.tenant)
    acme.create_resource("spaces.project", "crm", "bob", space="lab")
    acme.create_resource("spaces.task", "load", "bob", project="crm")
    with acme.platform.write(acme.admin()) as ctx:
        ctx.session.store.add(Attribute("lab", "personal", "true"))
        removed = member_removal.remove(ctx, "bob", receiver="cleo")
        assert [each.resource for each in removed.moved] == ["lab"]
        assert ctx.grants("lab") == [Grant("cleo", "owner", "lab")]
        assert ctx.grants("crm") == [Grant("cleo", "owner", "crm")]
        # Cleo would see the rows that Bob has loaded.
        assert ctx.grants("load") == []
        assert not ctx.session.check("cleo", "view_data", "load")
        assert ctx.session.check("cleo", "delete", "load")
