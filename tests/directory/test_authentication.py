"""Signing in with a password: who may, what others learn from it, and how often it can be tried."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from argon2 import PasswordHasher

from lakehold.directory import accounts, members, passwords, sign_ins
from lakehold.directory.authentication import PasswordMethod, SignInMethod, SignInProof, sign_in
from lakehold.directory.caller import ClientInfo
from lakehold.directory.errors import ThrottledError, UnauthorizedError
from lakehold.directory.platform import Platform
from lakehold.ledger.audit import DENIED, AuditFilter
from tests.directory.acme import ELSEWHERE, HOME, SECRET, AcmePlatform

WRONG = "not the password"


class Counting(PasswordHasher):
    """Counts what takes time: comparisons."""

    comparisons = 0

    def verify(self, hash: str | bytes, password: str | bytes) -> bool:  # type: ignore[override]  # noqa: A002
        self.comparisons += 1
        return super().verify(hash, password)


@pytest.fixture
def counting() -> Iterator[Counting]:
    before, counting = passwords.hasher, Counting(time_cost=1, memory_cost=8, parallelism=1)
    passwords.hasher = counting
    yield counting
    passwords.hasher = before


def attempt(acme: AcmePlatform, email: str, password: str = WRONG, visit: ClientInfo = HOME, tenant: str = "") -> str:
    try:
        sign_in(acme.platform, PasswordMethod(email, password, tenant), visit)
    except (UnauthorizedError, ThrottledError) as error:
        return f"{error.status} {error}"
    return "in"


def test_a_member_signs_in_and_calls(acme: AcmePlatform) -> None:
    bob = acme.person("Bob")
    signed_in = sign_in(acme.platform, PasswordMethod("  Bob@Example.ORG ", SECRET), HOME)
    caller = sign_ins.authenticate(acme.platform, signed_in.secret)
    assert (caller.tenant, caller.member, caller.sign_in_id) == (bob.tenant, bob.member, signed_in.id)
    assert acme.audit_summary()[-1] == ("bob", "sign in", "bob", "done")
    assert acme.log()[-1].address == HOME.address


def test_the_secret_is_in_no_table_and_in_no_repr(acme: AcmePlatform) -> None:
    acme.person("Bob")
    signed_in = acme.sign_in("Bob")
    assert signed_in.secret not in repr(signed_in)
    assert SECRET not in repr(PasswordMethod("bob@example.org", SECRET))
    with acme.platform.database.read() as transaction:
        for table in ("sign_in", "account", "audit", "attempt"):
            rows = transaction.connection.exec_driver_sql(f"SELECT * FROM {table}").all()
            assert rows
            assert signed_in.secret not in str(rows)
            assert SECRET not in str(rows)


def test_whatever_is_wrong_gets_the_same_answer_after_the_same_work(acme: AcmePlatform, counting: Counting) -> None:
    acme.person("Bob")
    with acme.platform.write(acme.olga) as ctx:
        members.create_service_account(ctx, "Nightly", uid="nightly")
        ctx.session.store.create("tenant.member", "Nils", uid="nils", edges={"tenant": acme.tenant})
        accounts.add(ctx, "nils", email="nils@example.org")
    answers = set()
    for email, tenant in [
        ("bob@example.org", ""),
        ("nobody@example.org", ""),
        ("nils@example.org", ""),
        ("nightly", ""),
        ("no address\0at all", ""),
        ("\ud800@example.org", ""),
        ("bob@example.org", "no such tenant"),
        ("bob@example.org", "\0"),
    ]:
        before = counting.comparisons
        answers.add(attempt(acme, email, tenant=tenant))
        assert counting.comparisons == before + 1, email
    assert answers == {"401 The e-mail address or the password is wrong. Try again, or request a link."}


def test_a_password_that_is_no_text_is_only_wrong(acme: AcmePlatform) -> None:
    acme.person("Bob")
    assert attempt(acme, "bob@example.org", "\ud800" * 20).startswith("401")
    assert attempt(acme, "bob@example.org", "x" * 5_000_000).startswith("401")


def test_failed_ones_are_written_down(acme: AcmePlatform) -> None:
    acme.person("Bob")
    attempt(acme, "bob@example.org")
    attempt(acme, "nobody@example.org")
    assert acme.audit_summary(AuditFilter(outcome=DENIED)) == [
        ("bob", "sign in", "bob", "denied"),
        ("", "sign in", "", "denied"),
    ]


def test_after_some_attempts_an_account_has_to_wait_longer_and_longer(acme: AcmePlatform) -> None:
    acme.person("Bob")
    for _ in range(5):
        assert attempt(acme, "bob@example.org").startswith("401")
    waits = []
    for _ in range(12):
        with pytest.raises(ThrottledError) as throttled:
            sign_in(acme.platform, PasswordMethod("bob@example.org", SECRET), ELSEWHERE)
        waits.append(throttled.value.wait)
        acme.clock.advance(throttled.value.wait)
        assert attempt(acme, "bob@example.org").startswith("401")
    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]


def test_the_right_password_makes_an_account_free_again(acme: AcmePlatform) -> None:
    acme.person("Bob")
    for _ in range(5):
        attempt(acme, "bob@example.org")
    acme.clock.advance(1)
    assert attempt(acme, "bob@example.org", SECRET) == "in"
    for _ in range(5):
        assert attempt(acme, "bob@example.org").startswith("401")


def test_an_hour_of_quiet_makes_it_free_again_too(acme: AcmePlatform) -> None:
    acme.person("Bob")
    for _ in range(5):
        attempt(acme, "bob@example.org")
    acme.clock.advance(3_600)
    for _ in range(5):
        assert attempt(acme, "bob@example.org").startswith("401")


def test_unknown_accounts_wait_like_known_ones(acme: AcmePlatform) -> None:
    acme.person("Bob")
    known = [attempt(acme, "bob@example.org", visit=ClientInfo()) for _ in range(8)]
    unknown = [attempt(acme, "nobody@example.org", visit=ClientInfo()) for _ in range(8)]
    assert known == unknown
    assert known[-1].startswith("429")


def test_an_address_has_to_wait_whichever_accounts_it_tries(acme: AcmePlatform) -> None:
    acme.person("Bob")
    for n in range(30):
        assert attempt(acme, f"somebody{n}@example.org").startswith("401")
    assert attempt(acme, "bob@example.org", SECRET).startswith("429")
    assert attempt(acme, "bob@example.org", SECRET, ELSEWHERE) == "in"


def test_signing_in_to_an_own_account_does_not_free_an_address(acme: AcmePlatform) -> None:
    acme.person("Eve")
    for n in range(30):
        attempt(acme, f"somebody{n}@example.org")
    acme.clock.advance(1)
    assert attempt(acme, "eve@example.org", SECRET) == "in"
    assert attempt(acme, "somebody31@example.org").startswith("401")
    assert attempt(acme, "somebody32@example.org").startswith("429")


def test_addresses_of_one_network_are_one(acme: AcmePlatform) -> None:
    for n in range(30):
        attempt(acme, f"somebody{n}@example.org", visit=ClientInfo(f"2001:db8:1:2::{n:x}"))
    assert attempt(acme, "other@example.org", visit=ClientInfo("2001:db8:1:2:ffff::1")).startswith("429")
    assert attempt(acme, "other@example.org", visit=ClientInfo("2001:db8:1:3::1")).startswith("401")


def test_a_password_is_hashed_anew_when_the_parameters_change(acme: AcmePlatform) -> None:
    bob = acme.person("Bob")
    before, passwords.hasher = passwords.hasher, PasswordHasher(time_cost=2, memory_cost=16, parallelism=1)
    try:
        assert attempt(acme, "bob@example.org", SECRET) == "in"
        with acme.platform.read(bob) as ctx:
            account = accounts.get(ctx, "bob")
        assert account is not None
        assert "m=16,t=2" in account.password
        assert attempt(acme, "bob@example.org", SECRET) == "in"
    finally:
        passwords.hasher = before


def test_a_password_that_changes_while_it_is_compared_lets_nobody_in(acme: AcmePlatform) -> None:
    bob = acme.person("Bob")

    class Slow(PasswordMethod):
        """Somebody else is faster between the comparison and the sign-in."""

        def verify(self, platform: Platform, tenant: str) -> SignInProof:
            proof = PasswordMethod.verify(self, platform, tenant)
            with acme.platform.write(bob) as ctx:
                accounts.set_password(ctx, "bob", passwords.hash_password("another password"))
            return proof

    slow: SignInMethod = Slow("bob@example.org", SECRET)
    with pytest.raises(UnauthorizedError):
        sign_in(acme.platform, slow, HOME)


def test_the_tenant_must_be_named_where_there_are_two(acme: AcmePlatform) -> None:
    acme.person("Bob")
    acme.second_tenant()
    assert attempt(acme, "bob@example.org", SECRET).startswith("401")
    assert attempt(acme, "bob@example.org", SECRET, tenant=acme.tenant) == "in"
    assert attempt(acme, "bob@example.org", SECRET, tenant="bolt").startswith("401")
