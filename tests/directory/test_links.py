"""Links that sign in and that set a password: made by an admin or mailed, used once, ended soon."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from lakehold.access import Edge, Grant, TokenPrincipal
from lakehold.directory import authentication, links, member_removal, members, sign_ins, tokens
from lakehold.directory.authentication import MagicLinkMethod, sign_in
from lakehold.directory.caller import Caller, ClientInfo
from lakehold.directory.errors import DeniedError, ThrottledError, UnauthorizedError
from lakehold.directory.links import PASSWORD, SIGN_IN
from lakehold.kit.errors import ConflictError, InvalidInputError, LakeholdError
from lakehold.ledger.audit import DENIED, AuditFilter
from tests.directory.acme import ELSEWHERE, HOME, SECRET, AcmePlatform, secret_of

NEW = "quite another password"


def made(acme: AcmePlatform, caller: Caller, member: str, purpose: str = SIGN_IN) -> str:
    """The secret of a new link."""
    with acme.platform.write(caller) as ctx:
        return secret_of(links.create(ctx, acme.platform.settings, member, purpose).link)


def use(acme: AcmePlatform, secret: str) -> str:
    try:
        return sign_in(acme.platform, MagicLinkMethod(secret), HOME).member
    except UnauthorizedError as error:
        return str(error)


REFUSED = "This link is invalid or has expired. Ask for a new one."


def test_a_link_from_an_admin_signs_in_once(acme: AcmePlatform) -> None:
    adam, _ = acme.admin(), acme.person("Bob")
    secret = made(acme, adam, "bob")
    assert links.get_info(acme.platform, secret).member_name == "Bob"
    assert use(acme, secret) == "bob"
    assert use(acme, secret) == REFUSED
    assert ("adam", "make link", "bob", "done") in acme.audit_summary()
    (entry,) = [entry for entry in acme.log() if entry.action == "sign in"]
    assert entry.after["method"] == "link"
    assert secret not in str(acme.log())


def test_of_many_at_the_same_moment_one_gets_in(acme: AcmePlatform) -> None:
    acme.person("Bob")
    secret = made(acme, acme.olga, "bob")
    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(lambda _: use(acme, secret), range(4)))
    assert sorted(outcomes) == sorted(["bob", REFUSED, REFUSED, REFUSED])


def test_it_ends_soon(acme: AcmePlatform) -> None:
    acme.person("Bob")
    secret = made(acme, acme.olga, "bob")
    acme.clock.advance(3_600)
    assert use(acme, secret) == REFUSED
    with pytest.raises(UnauthorizedError):
        links.get_info(acme.platform, secret)


def test_a_newer_one_ends_the_older(acme: AcmePlatform) -> None:
    acme.person("Bob")
    older, newer = made(acme, acme.olga, "bob"), made(acme, acme.olga, "bob")
    assert use(acme, older) == REFUSED
    assert use(acme, newer) == "bob"


def test_one_that_signs_in_sets_no_password_and_the_other_way_round(acme: AcmePlatform) -> None:
    acme.person("Bob")
    with pytest.raises(UnauthorizedError):
        authentication.set_password_with_link(acme.platform, made(acme, acme.olga, "bob"), NEW, HOME)
    assert use(acme, made(acme, acme.olga, "bob", PASSWORD)) == REFUSED


def test_a_new_password_ends_sign_ins_and_links(acme: AcmePlatform) -> None:
    acme.person("Bob")
    signed_in, magic = acme.sign_in("Bob"), made(acme, acme.olga, "bob")
    reset = made(acme, acme.olga, "bob", PASSWORD)
    authentication.set_password_with_link(acme.platform, reset, NEW, HOME)
    with pytest.raises(UnauthorizedError):
        sign_ins.authenticate(acme.platform, signed_in.secret)
    assert use(acme, magic) == REFUSED
    with pytest.raises(UnauthorizedError):
        authentication.set_password_with_link(acme.platform, reset, NEW, HOME)
    with pytest.raises(UnauthorizedError):
        acme.sign_in("Bob")
    assert acme.sign_in("Bob", password=NEW).member == "bob"
    assert ("bob", "set password", "bob", "done") in acme.audit_summary()


def test_a_new_password_ends_api_tokens_on_demand(acme: AcmePlatform) -> None:
    bob, old = acme.person("Bob"), SECRET

    def token() -> str:
        with acme.platform.write(bob) as ctx:
            return tokens.create(ctx, "Nightly").secret

    def is_valid(secret: str) -> bool:
        try:
            return tokens.authenticate(acme.platform, secret).member == "bob"
        except UnauthorizedError:
            return False

    kept = token()
    authentication.change_password(acme.platform, bob, old, NEW)
    assert is_valid(kept)
    authentication.change_password(acme.platform, bob, NEW, old, revoke_tokens=True)
    assert not is_valid(kept)
    kept, reset = token(), made(acme, acme.olga, "bob", PASSWORD)
    authentication.set_password_with_link(acme.platform, reset, NEW, HOME, revoke_tokens=True)
    assert not is_valid(kept)
    kept = token()
    with acme.platform.write(acme.olga) as ctx:
        links.create(ctx, acme.platform.settings, "bob", PASSWORD, revoke_tokens=True)
    assert not is_valid(kept)
    by = [line[0] for line in acme.audit_summary() if line[1] == "revoke tokens"]
    assert sorted(by) == sorted(["bob", "bob", acme.olga.member])


def test_a_password_that_may_not_be_used_leaves_the_link_as_it_was(acme: AcmePlatform) -> None:
    acme.person("Bob")
    reset = made(acme, acme.olga, "bob", PASSWORD)
    for wrong in ("short", "bob@example.org"):
        with pytest.raises(InvalidInputError):
            authentication.set_password_with_link(acme.platform, reset, wrong, HOME)
    authentication.set_password_with_link(acme.platform, reset, NEW, HOME)


def test_one_changes_ones_own_password_with_the_old_one(acme: AcmePlatform) -> None:
    acme.person("Bob")
    here, there = acme.sign_in("Bob"), acme.sign_in("Bob", ELSEWHERE)
    caller = sign_ins.authenticate(acme.platform, here.secret)
    with pytest.raises(UnauthorizedError, match="old password is wrong"):
        authentication.change_password(acme.platform, caller, "not the old one", NEW)
    with pytest.raises(InvalidInputError):
        authentication.change_password(acme.platform, caller, SECRET, "short")
    authentication.change_password(acme.platform, caller, SECRET, NEW)
    assert sign_ins.authenticate(acme.platform, here.secret).member == "bob"
    with pytest.raises(UnauthorizedError):
        sign_ins.authenticate(acme.platform, there.secret)
    assert acme.sign_in("Bob", password=NEW).member == "bob"
    assert acme.audit_summary(AuditFilter(action="set password", outcome=DENIED)) == [
        ("bob", "set password", "bob", "denied")
    ]


def test_the_old_password_cannot_be_guessed_at_for_ever(acme: AcmePlatform) -> None:
    bob = acme.person("Bob")
    for _ in range(5):
        with pytest.raises(UnauthorizedError):
            authentication.change_password(acme.platform, bob, "not the old one", NEW)
    with pytest.raises(ThrottledError):
        authentication.change_password(acme.platform, bob, SECRET, NEW)
    acme.clock.advance(1)
    authentication.change_password(acme.platform, bob, SECRET, NEW)


def test_neither_a_narrowed_token_nor_who_views_as_another_changes_a_password(acme: AcmePlatform) -> None:
    bob = acme.person("Bob")
    narrowed = replace(bob, narrowed=TokenPrincipal("bob", resources=frozenset({"bob"})), token_id="t")
    for caller in (narrowed, replace(bob, impersonator=acme.olga.member)):
        with pytest.raises(LakeholdError) as refused:
            authentication.change_password(acme.platform, caller, SECRET, NEW)
        assert refused.value.status == 403
    assert acme.sign_in("Bob").member == "bob"


# Who may make one


def test_members_make_none_for_others(acme: AcmePlatform) -> None:
    eve, _ = acme.person("Eve"), acme.person("Bob")
    with pytest.raises(DeniedError) as denied:
        made(acme, eve, "bob")
    assert denied.value.givers


def test_an_admin_makes_none_for_an_owner(acme: AcmePlatform) -> None:
    adam = acme.admin()
    for purpose in (SIGN_IN, PASSWORD):
        with pytest.raises(DeniedError):
            made(acme, adam, acme.olga.member, purpose)
    olaf = acme.person("Olaf", ("owner", acme.tenant))
    assert use(acme, made(acme, olaf, acme.olga.member)) == acme.olga.member


def test_a_narrowed_token_of_an_admin_makes_none(acme: AcmePlatform) -> None:
    adam, _ = acme.admin(), acme.person("Bob")
    narrowed = replace(adam, narrowed=TokenPrincipal("adam", actions=frozenset({"manage_members", "see", "edit"})))
    with pytest.raises(DeniedError):
        made(acme, narrowed, "bob")


def test_a_project_admin_makes_them_for_people_of_that_project_alone(acme: AcmePlatform) -> None:
    acme.project("sales")
    acme.project("other")
    paula = acme.person("Paula", ("admin", "sales"))
    acme.person("Bob", ("business_user", "sales"))
    assert use(acme, made(acme, paula, "bob")) == "bob"
    acme.person("Nils")
    acme.person("Tom", ("technical_user", "sales"), ("business_user", "other"))
    acme.person("Vera", ("business_user", "sales"), ("viewer", acme.tenant))
    acme.person("Dana", ("business_user", "sales"), ("data_space_creator", acme.tenant))
    for other in ("nils", "tom", "vera", "dana"):
        with pytest.raises(DeniedError):
            made(acme, paula, other)
    tara = acme.person("Tara", ("technical_user", "sales"))
    with pytest.raises(DeniedError):
        made(acme, tara, "bob")


def test_groups_count_when_a_project_admin_makes_one(acme: AcmePlatform) -> None:
    acme.project("sales")
    paula = acme.person("Paula", ("admin", "sales"))
    acme.person("Bob", ("business_user", "sales"))
    acme.create_resource("tenant.group", "team", tenant=acme.tenant)
    with acme.platform.write(acme.olga) as ctx:
        ctx.session.store.add(Edge("member_of", "bob", "team"))
    made(acme, paula, "bob")
    with acme.platform.write(acme.olga) as ctx:
        ctx.session.store.add(Grant("team", "admin", acme.tenant))
    with pytest.raises(DeniedError):
        made(acme, paula, "bob")


def test_nobody_signs_in_to_a_service_account(acme: AcmePlatform) -> None:
    with acme.platform.write(acme.olga) as ctx:
        members.create_service_account(ctx, "Nightly", uid="nightly")
    for purpose in (SIGN_IN, PASSWORD):
        with pytest.raises(ConflictError, match="service account"):
            made(acme, acme.olga, "nightly", purpose)


def test_bad_input(acme: AcmePlatform) -> None:
    acme.person("Bob")
    with pytest.raises(InvalidInputError, match="no links for 'dance'"):
        made(acme, acme.olga, "bob", "dance")
    with pytest.raises(LakeholdError, match="There is no resource 'nobody'"):
        made(acme, acme.olga, "nobody")
    with acme.platform.write(acme.olga) as ctx:
        ctx.session.store.create("tenant.member", "Nils", uid="nils", edges={"tenant": acme.tenant})
    with pytest.raises(ConflictError, match="no account yet"):
        made(acme, acme.olga, "nils")
    for wrong in ("", "\0", "\ud800", "lhl_x"):
        assert use(acme, wrong) == REFUSED


def test_removing_a_member_ends_their_links(acme: AcmePlatform) -> None:
    acme.person("Bob")
    secret = made(acme, acme.olga, "bob")
    with acme.platform.write(acme.olga) as ctx:
        member_removal.remove(ctx, "bob")
    assert use(acme, secret) == REFUSED


# Mailed


def test_asking_mails_a_link_to_the_address_of_the_account(acme: AcmePlatform) -> None:
    acme.person("Bob")
    acme.with_mails()
    links.request_link(acme.platform, "BOB@example.org", SIGN_IN, HOME)
    ((receiver, subject, body),) = acme.mails()
    assert (receiver, subject) == ("bob@example.org", "Your link to sign in to Acme")
    link = next(line for line in body.splitlines() if "/link/" in line)
    assert use(acme, secret_of(link)) == "bob"


def test_a_mail_lies_encrypted_in_the_database(acme: AcmePlatform) -> None:
    acme.person("Bob")
    acme.with_mails()
    links.request_link(acme.platform, "bob@example.org", PASSWORD, HOME)
    with acme.platform.database.read() as transaction:
        (row,) = transaction.connection.exec_driver_sql("SELECT * FROM outbox").all()
    assert "lhl_" not in str(row)
    assert "password/lhl_" in acme.mails()[0][2]


def test_asking_is_answered_alike_whoever_it_is_about(acme: AcmePlatform) -> None:
    acme.person("Bob")
    acme.with_mails()
    with acme.platform.write(acme.olga) as ctx:
        members.create_service_account(ctx, "Nightly", uid="nightly")
    for email in ("nobody@example.org", "nightly", "\0", "\ud800@x"):
        links.request_link(acme.platform, email, SIGN_IN, HOME)
    links.request_link(acme.platform, "bob@example.org", SIGN_IN, HOME, "no such tenant")
    assert acme.mails() == []
    links.request_link(acme.platform, "bob@example.org", SIGN_IN, HOME)
    assert len(acme.mails()) == 1


def test_asking_where_no_mails_are_sent_makes_no_link(acme: AcmePlatform) -> None:
    acme.person("Bob")
    links.request_link(acme.platform, "bob@example.org", SIGN_IN, HOME)
    assert acme.mails() == []
    with acme.platform.database.read() as transaction:
        assert transaction.connection.exec_driver_sql("SELECT count(*) FROM link").scalar() == 0
    with pytest.raises(ConflictError, match="sends no mails"), acme.platform.write(acme.olga) as ctx:
        links.create(ctx, acme.platform.settings, "bob", SIGN_IN, mail=True)


@pytest.mark.parametrize("email", ["bob@example.org", "nobody@example.org"])
def test_nobodys_letter_box_can_be_filled(acme: AcmePlatform, email: str) -> None:
    acme.person("Bob")
    acme.with_mails()
    for n in range(3):
        links.request_link(acme.platform, email, SIGN_IN, ClientInfo(f"192.0.2.{n}"))
    with pytest.raises(ThrottledError):
        links.request_link(acme.platform, email, SIGN_IN, ClientInfo("192.0.2.99"))


def test_a_link_that_an_admin_lets_be_mailed_is_not_shown_to_them(acme: AcmePlatform) -> None:
    acme.person("Bob")
    acme.with_mails()
    with acme.platform.write(acme.olga) as ctx:
        done = links.create(ctx, acme.platform.settings, "bob", SIGN_IN, mail=True)
    assert (done.mailed, done.link) == (True, "")
    assert len(acme.mails()) == 1


def test_what_cannot_be_a_link_keeps_nobody_waiting(acme: AcmePlatform) -> None:
    acme.person("Bob")
    for _ in range(20):
        assert use(acme, "lhl_nonsense") == REFUSED
    assert use(acme, made(acme, acme.olga, "bob")) == "bob"
