"""Links that sign in and that set a password: made by an admin or mailed, used once, ended soon."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from lakehold.access import Edge, Grant, TokenPrincipal
from lakehold.directory import authentication, links, member_removal, members, sign_ins
from lakehold.directory.authentication import MagicLinkMethod, sign_in
from lakehold.directory.caller import Caller, ClientInfo
from lakehold.directory.errors import DeniedError, ThrottledError, UnauthorizedError
from lakehold.directory.links import PASSWORD, SIGN_IN
from lakehold.kit.errors import ConflictError, InvalidInputError, LakeholdError
from lakehold.ledger.audit import DENIED, AuditFilter
from tests.directory.town import ELSEWHERE, HOME, SECRET, Town, secret_of

NEW = "quite another password"


def made(town: Town, caller: Caller, member: str, purpose: str = SIGN_IN) -> str:
    """The secret of a new link."""
    with town.platform.write(caller) as ctx:
        return secret_of(links.create(ctx, town.platform.settings, member, purpose).link)


def use(town: Town, secret: str) -> str:
    try:
        return sign_in(town.platform, MagicLinkMethod(secret), HOME).member
    except UnauthorizedError as error:
        return str(error)


REFUSED = "This link is not valid, or not any more. Ask for a new one."


def test_a_link_from_an_admin_signs_in_once(town: Town) -> None:
    adam, _ = town.admin(), town.person("Bob")
    secret = made(town, adam, "bob")
    assert links.get_info(town.platform, secret).member_name == "Bob"
    assert use(town, secret) == "bob"
    assert use(town, secret) == REFUSED
    assert ("adam", "make link", "bob", "done") in town.deeds()
    (entry,) = [entry for entry in town.log() if entry.action == "sign in"]
    assert entry.after["method"] == "link"
    assert secret not in str(town.log())


def test_of_many_at_the_same_moment_one_gets_in(town: Town) -> None:
    town.person("Bob")
    secret = made(town, town.olga, "bob")
    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(lambda _: use(town, secret), range(4)))
    assert sorted(outcomes) == sorted(["bob", REFUSED, REFUSED, REFUSED])


def test_it_ends_soon(town: Town) -> None:
    town.person("Bob")
    secret = made(town, town.olga, "bob")
    town.clock.pass_by(3_600)
    assert use(town, secret) == REFUSED
    with pytest.raises(UnauthorizedError):
        links.get_info(town.platform, secret)


def test_a_newer_one_ends_the_older(town: Town) -> None:
    town.person("Bob")
    older, newer = made(town, town.olga, "bob"), made(town, town.olga, "bob")
    assert use(town, older) == REFUSED
    assert use(town, newer) == "bob"


def test_one_that_signs_in_sets_no_password_and_the_other_way_round(town: Town) -> None:
    town.person("Bob")
    with pytest.raises(UnauthorizedError):
        authentication.set_password_with_link(town.platform, made(town, town.olga, "bob"), NEW, HOME)
    assert use(town, made(town, town.olga, "bob", PASSWORD)) == REFUSED


def test_a_new_password_ends_sign_ins_and_links(town: Town) -> None:
    town.person("Bob")
    signed_in, magic = town.signed_in("Bob"), made(town, town.olga, "bob")
    reset = made(town, town.olga, "bob", PASSWORD)
    authentication.set_password_with_link(town.platform, reset, NEW, HOME)
    with pytest.raises(UnauthorizedError):
        sign_ins.authenticate(town.platform, signed_in.secret)
    assert use(town, magic) == REFUSED
    with pytest.raises(UnauthorizedError):
        authentication.set_password_with_link(town.platform, reset, NEW, HOME)
    with pytest.raises(UnauthorizedError):
        town.signed_in("Bob")
    assert town.signed_in("Bob", password=NEW).member == "bob"
    assert ("bob", "set password", "bob", "done") in town.deeds()


def test_a_password_that_may_not_be_used_leaves_the_link_as_it_was(town: Town) -> None:
    town.person("Bob")
    reset = made(town, town.olga, "bob", PASSWORD)
    for wrong in ("short", "bob@example.org"):
        with pytest.raises(InvalidInputError):
            authentication.set_password_with_link(town.platform, reset, wrong, HOME)
    authentication.set_password_with_link(town.platform, reset, NEW, HOME)


def test_one_changes_ones_own_password_with_the_old_one(town: Town) -> None:
    town.person("Bob")
    here, there = town.signed_in("Bob"), town.signed_in("Bob", ELSEWHERE)
    caller = sign_ins.authenticate(town.platform, here.secret)
    with pytest.raises(UnauthorizedError, match="old password is wrong"):
        authentication.change_password(town.platform, caller, "not the old one", NEW)
    with pytest.raises(InvalidInputError):
        authentication.change_password(town.platform, caller, SECRET, "short")
    authentication.change_password(town.platform, caller, SECRET, NEW)
    assert sign_ins.authenticate(town.platform, here.secret).member == "bob"
    with pytest.raises(UnauthorizedError):
        sign_ins.authenticate(town.platform, there.secret)
    assert town.signed_in("Bob", password=NEW).member == "bob"
    assert town.deeds(AuditFilter(action="set password", outcome=DENIED)) == [("bob", "set password", "bob", "denied")]


def test_the_old_password_cannot_be_guessed_at_for_ever(town: Town) -> None:
    bob = town.person("Bob")
    for _ in range(5):
        with pytest.raises(UnauthorizedError):
            authentication.change_password(town.platform, bob, "not the old one", NEW)
    with pytest.raises(ThrottledError):
        authentication.change_password(town.platform, bob, SECRET, NEW)
    town.clock.pass_by(1)
    authentication.change_password(town.platform, bob, SECRET, NEW)


def test_neither_a_narrowed_token_nor_who_views_as_another_changes_a_password(town: Town) -> None:
    bob = town.person("Bob")
    narrowed = replace(bob, narrowed=TokenPrincipal("bob", resources=frozenset({"bob"})), token_id="t")
    for caller in (narrowed, replace(bob, impersonator=town.olga.member)):
        with pytest.raises(LakeholdError) as refused:
            authentication.change_password(town.platform, caller, SECRET, NEW)
        assert refused.value.status == 403
    assert town.signed_in("Bob").member == "bob"


# Who may make one


def test_members_make_none_for_others(town: Town) -> None:
    eve, _ = town.person("Eve"), town.person("Bob")
    with pytest.raises(DeniedError) as denied:
        made(town, eve, "bob")
    assert denied.value.givers


def test_an_admin_makes_none_for_an_owner(town: Town) -> None:
    adam = town.admin()
    for purpose in (SIGN_IN, PASSWORD):
        with pytest.raises(DeniedError):
            made(town, adam, town.olga.member, purpose)
    olaf = town.person("Olaf", ("owner", town.tenant))
    assert use(town, made(town, olaf, town.olga.member)) == town.olga.member


def test_a_narrowed_token_of_an_admin_makes_none(town: Town) -> None:
    adam, _ = town.admin(), town.person("Bob")
    narrowed = replace(adam, narrowed=TokenPrincipal("adam", actions=frozenset({"manage_members", "see", "edit"})))
    with pytest.raises(DeniedError):
        made(town, narrowed, "bob")


def test_a_project_admin_makes_them_for_people_of_that_project_alone(town: Town) -> None:
    town.project("sales")
    town.project("other")
    paula = town.person("Paula", ("admin", "sales"))
    town.person("Bob", ("business_user", "sales"))
    assert use(town, made(town, paula, "bob")) == "bob"
    town.person("Nils")
    town.person("Tom", ("technical_user", "sales"), ("business_user", "other"))
    town.person("Vera", ("business_user", "sales"), ("viewer", town.tenant))
    town.person("Dana", ("business_user", "sales"), ("data_space_creator", town.tenant))
    for other in ("nils", "tom", "vera", "dana"):
        with pytest.raises(DeniedError):
            made(town, paula, other)
    tara = town.person("Tara", ("technical_user", "sales"))
    with pytest.raises(DeniedError):
        made(town, tara, "bob")


def test_groups_count_when_a_project_admin_makes_one(town: Town) -> None:
    town.project("sales")
    paula = town.person("Paula", ("admin", "sales"))
    town.person("Bob", ("business_user", "sales"))
    town.made("tenant.group", "team", tenant=town.tenant)
    with town.platform.write(town.olga) as ctx:
        ctx.session.store.add(Edge("member_of", "bob", "team"))
    made(town, paula, "bob")
    with town.platform.write(town.olga) as ctx:
        ctx.session.store.add(Grant("team", "admin", town.tenant))
    with pytest.raises(DeniedError):
        made(town, paula, "bob")


def test_nobody_signs_in_to_a_service_account(town: Town) -> None:
    with town.platform.write(town.olga) as ctx:
        members.create_service_account(ctx, "Nightly", uid="nightly")
    for purpose in (SIGN_IN, PASSWORD):
        with pytest.raises(ConflictError, match="service account"):
            made(town, town.olga, "nightly", purpose)


def test_bad_input(town: Town) -> None:
    town.person("Bob")
    with pytest.raises(InvalidInputError, match="no links for 'dance'"):
        made(town, town.olga, "bob", "dance")
    with pytest.raises(LakeholdError, match="There is no resource 'nobody'"):
        made(town, town.olga, "nobody")
    with town.platform.write(town.olga) as ctx:
        ctx.session.store.create("tenant.member", "Nils", uid="nils", edges={"tenant": town.tenant})
    with pytest.raises(ConflictError, match="no account yet"):
        made(town, town.olga, "nils")
    for wrong in ("", "\0", "\ud800", "lhl_x"):
        assert use(town, wrong) == REFUSED


def test_removing_a_member_ends_their_links(town: Town) -> None:
    town.person("Bob")
    secret = made(town, town.olga, "bob")
    with town.platform.write(town.olga) as ctx:
        member_removal.remove(ctx, "bob")
    assert use(town, secret) == REFUSED


# Mailed


def test_asking_mails_a_link_to_the_address_of_the_account(town: Town) -> None:
    town.person("Bob")
    town.with_mails()
    links.request_link(town.platform, "BOB@example.org", SIGN_IN, HOME)
    ((receiver, subject, body),) = town.mails()
    assert (receiver, subject) == ("bob@example.org", "Your link to sign in to Acme")
    link = next(line for line in body.splitlines() if "/link/" in line)
    assert use(town, secret_of(link)) == "bob"


def test_a_mail_lies_encrypted_in_the_database(town: Town) -> None:
    town.person("Bob")
    town.with_mails()
    links.request_link(town.platform, "bob@example.org", PASSWORD, HOME)
    with town.platform.database.read() as transaction:
        (row,) = transaction.connection.exec_driver_sql("SELECT * FROM outbox").all()
    assert "lhl_" not in str(row)
    assert "password/lhl_" in town.mails()[0][2]


def test_asking_is_answered_alike_whoever_it_is_about(town: Town) -> None:
    town.person("Bob")
    town.with_mails()
    with town.platform.write(town.olga) as ctx:
        members.create_service_account(ctx, "Nightly", uid="nightly")
    for email in ("nobody@example.org", "nightly", "\0", "\ud800@x"):
        links.request_link(town.platform, email, SIGN_IN, HOME)
    links.request_link(town.platform, "bob@example.org", SIGN_IN, HOME, "no such tenant")
    assert town.mails() == []
    links.request_link(town.platform, "bob@example.org", SIGN_IN, HOME)
    assert len(town.mails()) == 1


def test_asking_where_no_mails_are_sent_makes_no_link(town: Town) -> None:
    town.person("Bob")
    links.request_link(town.platform, "bob@example.org", SIGN_IN, HOME)
    assert town.mails() == []
    with town.platform.database.read() as transaction:
        assert transaction.connection.exec_driver_sql("SELECT count(*) FROM link").scalar() == 0
    with pytest.raises(ConflictError, match="sends no mails"), town.platform.write(town.olga) as ctx:
        links.create(ctx, town.platform.settings, "bob", SIGN_IN, mail=True)


@pytest.mark.parametrize("email", ["bob@example.org", "nobody@example.org"])
def test_nobodys_letter_box_can_be_filled(town: Town, email: str) -> None:
    town.person("Bob")
    town.with_mails()
    for n in range(3):
        links.request_link(town.platform, email, SIGN_IN, ClientInfo(f"192.0.2.{n}"))
    with pytest.raises(ThrottledError):
        links.request_link(town.platform, email, SIGN_IN, ClientInfo("192.0.2.99"))


def test_a_link_that_an_admin_lets_be_mailed_is_not_shown_to_them(town: Town) -> None:
    town.person("Bob")
    town.with_mails()
    with town.platform.write(town.olga) as ctx:
        done = links.create(ctx, town.platform.settings, "bob", SIGN_IN, mail=True)
    assert (done.mailed, done.link) == (True, "")
    assert len(town.mails()) == 1


def test_what_cannot_be_a_link_keeps_nobody_waiting(town: Town) -> None:
    town.person("Bob")
    for _ in range(20):
        assert use(town, "lhl_nonsense") == REFUSED
    assert use(town, made(town, town.olga, "bob")) == "bob"
