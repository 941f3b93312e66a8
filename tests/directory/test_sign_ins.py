"""Sign-ins are listed, end by themselves, and can be ended by their member or an admin at once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lakehold.access import TokenPrincipal
from lakehold.directory import secret_tokens, sign_ins
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, UnauthorizedError
from lakehold.directory.sign_ins import CreatedSignIn
from lakehold.kit.clock import DAY
from lakehold.kit.errors import ForbiddenError, NotFoundError
from tests.directory.acme import ELSEWHERE, HOME, AcmePlatform


def is_in(acme: AcmePlatform, signed_in: CreatedSignIn) -> bool:
    try:
        return sign_ins.authenticate(acme.platform, signed_in.secret).member == signed_in.member
    except UnauthorizedError:
        return False


def test_they_are_listed_with_where_and_when(acme: AcmePlatform) -> None:
    acme.person("Bob")
    first = acme.sign_in("Bob")
    acme.clock.advance(60)
    second = acme.sign_in("Bob", ELSEWHERE)
    with acme.platform.read(sign_ins.authenticate(acme.platform, second.secret)) as ctx:
        listed = sign_ins.list_of_member(ctx, "bob")
    assert [(one.id, one.address, one.agent, one.method, one.current) for one in listed] == [
        (second.id, ELSEWHERE.address, "curl", "password", True),
        (first.id, HOME.address, "Firefox", "password", False),
    ]
    assert listed[0].until - listed[0].made_at == 14 * DAY


def test_they_end_by_themselves(acme: AcmePlatform) -> None:
    bob = acme.person("Bob")
    signed_in = acme.sign_in("Bob")
    acme.clock.advance(14 * 86_400 - 1)
    assert is_in(acme, signed_in)
    acme.clock.advance(1)
    assert not is_in(acme, signed_in)
    with acme.platform.read(bob) as ctx:
        assert sign_ins.list_of_member(ctx, "bob") == []


def test_one_or_all_others_are_ended(acme: AcmePlatform) -> None:
    bob = acme.person("Bob")
    one, two, three = (acme.sign_in("Bob") for _ in range(3))
    with acme.platform.write(bob) as ctx:
        sign_ins.end(ctx, "bob", one.id)
    assert [is_in(acme, each) for each in (one, two, three)] == [False, True, True]
    with acme.platform.write(sign_ins.authenticate(acme.platform, two.secret)) as ctx:
        assert sign_ins.end_all(ctx, "bob", but=two.id) == 1
    assert [is_in(acme, each) for each in (one, two, three)] == [False, True, False]
    assert [deed[1] for deed in acme.audit_summary()[-2:]] == ["sign out", "sign out"]


def test_an_admin_ends_those_of_others_and_nobody_else_does(acme: AcmePlatform) -> None:
    adam, eve = acme.admin(), acme.person("Eve")
    acme.person("Bob")
    signed_in = acme.sign_in("Bob")
    acme.refuses(
        eve,
        DeniedError,
        lambda ctx: sign_ins.list_of_member(ctx, "bob"),
        lambda ctx: sign_ins.end(ctx, "bob", signed_in.id),
        lambda ctx: sign_ins.end_all(ctx, "bob"),
    )
    with pytest.raises(NotFoundError), acme.platform.write(eve) as ctx:
        sign_ins.end(ctx, "eve", signed_in.id)
    assert is_in(acme, signed_in)
    with acme.platform.write(adam) as ctx:
        assert sign_ins.end_all(ctx, "bob") == 1
    assert not is_in(acme, signed_in)


def test_an_unknown_one_is_not_found(acme: AcmePlatform) -> None:
    bob = acme.person("Bob")
    for wrong in ("nothing", "", "x" * 500):
        with pytest.raises(NotFoundError, match="There is no sign-in"), acme.platform.write(bob) as ctx:
            sign_ins.end(ctx, "bob", wrong)


def test_neither_a_narrowed_token_nor_who_views_as_another_touches_them(acme: AcmePlatform) -> None:
    bob = acme.person("Bob")
    signed_in = acme.sign_in("Bob")
    narrowed = replace(bob, narrowed=TokenPrincipal("bob", actions=frozenset({"see"})), token_id="t")
    with pytest.raises(DeniedError), acme.platform.read(narrowed) as ctx:
        sign_ins.list_of_member(ctx, "bob")
    with (
        pytest.raises(ForbiddenError),
        acme.platform.write(Caller(acme.tenant, "bob", impersonator=acme.olga.member)) as ctx,
    ):
        sign_ins.end(ctx, "bob", signed_in.id)
    assert is_in(acme, signed_in)


def test_what_was_never_one_is_refused_in_the_same_words(acme: AcmePlatform) -> None:
    acme.person("Bob")
    signed_in = acme.sign_in("Bob")
    forged = secret_tokens.generate(secret_tokens.SIGN_IN, signed_in.id).text
    answers = set()
    for wrong in ("", "x", "lhs_", "\0", "\ud800", forged, secret_tokens.generate(secret_tokens.SIGN_IN).text):
        with pytest.raises(UnauthorizedError) as refused:
            sign_ins.authenticate(acme.platform, wrong)
        answers.add(str(refused.value))
    assert len(answers) == 1


def test_when_it_was_last_used_is_written_once_a_minute(acme: AcmePlatform) -> None:
    bob = acme.person("Bob")
    signed_in = acme.sign_in("Bob")
    began = acme.clock()

    def used_at() -> int:
        with acme.platform.read(bob) as ctx:
            return sign_ins.list_of_member(ctx, "bob")[0].used_at

    acme.clock.advance(59)
    sign_ins.authenticate(acme.platform, signed_in.secret)
    assert used_at() == began
    used = acme.clock.advance(1)
    sign_ins.authenticate(acme.platform, signed_in.secret)
    assert used_at() == used
    assert acme.platform.last_used.flush(acme.platform.database) == 0
