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
from tests.directory.town import ELSEWHERE, HOME, Town


def is_in(town: Town, signed_in: CreatedSignIn) -> bool:
    try:
        return sign_ins.authenticate(town.platform, signed_in.secret).member == signed_in.member
    except UnauthorizedError:
        return False


def test_they_are_listed_with_where_and_when(town: Town) -> None:
    town.person("Bob")
    first = town.signed_in("Bob")
    town.clock.pass_by(60)
    second = town.signed_in("Bob", ELSEWHERE)
    with town.platform.read(sign_ins.authenticate(town.platform, second.secret)) as ctx:
        listed = sign_ins.list_of_member(ctx, "bob")
    assert [(one.id, one.address, one.agent, one.method, one.current) for one in listed] == [
        (second.id, ELSEWHERE.address, "curl", "password", True),
        (first.id, HOME.address, "Firefox", "password", False),
    ]
    assert listed[0].until - listed[0].made_at == 14 * DAY


def test_they_end_by_themselves(town: Town) -> None:
    bob = town.person("Bob")
    signed_in = town.signed_in("Bob")
    town.clock.pass_by(14 * 86_400 - 1)
    assert is_in(town, signed_in)
    town.clock.pass_by(1)
    assert not is_in(town, signed_in)
    with town.platform.read(bob) as ctx:
        assert sign_ins.list_of_member(ctx, "bob") == []


def test_one_or_all_others_are_ended(town: Town) -> None:
    bob = town.person("Bob")
    one, two, three = (town.signed_in("Bob") for _ in range(3))
    with town.platform.write(bob) as ctx:
        sign_ins.end(ctx, "bob", one.id)
    assert [is_in(town, each) for each in (one, two, three)] == [False, True, True]
    with town.platform.write(sign_ins.authenticate(town.platform, two.secret)) as ctx:
        assert sign_ins.end_all(ctx, "bob", but=two.id) == 1
    assert [is_in(town, each) for each in (one, two, three)] == [False, True, False]
    assert [deed[1] for deed in town.deeds()[-2:]] == ["sign out", "sign out"]


def test_an_admin_ends_those_of_others_and_nobody_else_does(town: Town) -> None:
    adam, eve = town.admin(), town.person("Eve")
    town.person("Bob")
    signed_in = town.signed_in("Bob")
    town.refuses(
        eve,
        DeniedError,
        lambda ctx: sign_ins.list_of_member(ctx, "bob"),
        lambda ctx: sign_ins.end(ctx, "bob", signed_in.id),
        lambda ctx: sign_ins.end_all(ctx, "bob"),
    )
    with pytest.raises(NotFoundError), town.platform.write(eve) as ctx:
        sign_ins.end(ctx, "eve", signed_in.id)
    assert is_in(town, signed_in)
    with town.platform.write(adam) as ctx:
        assert sign_ins.end_all(ctx, "bob") == 1
    assert not is_in(town, signed_in)


def test_an_unknown_one_is_not_found(town: Town) -> None:
    bob = town.person("Bob")
    for wrong in ("nothing", "", "x" * 500):
        with pytest.raises(NotFoundError, match="There is no sign-in"), town.platform.write(bob) as ctx:
            sign_ins.end(ctx, "bob", wrong)


def test_neither_a_narrowed_token_nor_who_views_as_another_touches_them(town: Town) -> None:
    bob = town.person("Bob")
    signed_in = town.signed_in("Bob")
    narrowed = replace(bob, narrowed=TokenPrincipal("bob", actions=frozenset({"see"})), token_id="t")
    with pytest.raises(DeniedError), town.platform.read(narrowed) as ctx:
        sign_ins.list_of_member(ctx, "bob")
    with (
        pytest.raises(ForbiddenError),
        town.platform.write(Caller(town.tenant, "bob", impersonator=town.olga.member)) as ctx,
    ):
        sign_ins.end(ctx, "bob", signed_in.id)
    assert is_in(town, signed_in)


def test_what_was_never_one_is_refused_in_the_same_words(town: Town) -> None:
    town.person("Bob")
    signed_in = town.signed_in("Bob")
    forged = secret_tokens.generate(secret_tokens.SIGN_IN, signed_in.id).text
    answers = set()
    for wrong in ("", "x", "lhs_", "\0", "\ud800", forged, secret_tokens.generate(secret_tokens.SIGN_IN).text):
        with pytest.raises(UnauthorizedError) as refused:
            sign_ins.authenticate(town.platform, wrong)
        answers.add(str(refused.value))
    assert len(answers) == 1


def test_when_it_was_last_used_is_written_once_a_minute(town: Town) -> None:
    bob = town.person("Bob")
    signed_in = town.signed_in("Bob")
    began = town.clock()

    def used_at() -> int:
        with town.platform.read(bob) as ctx:
            return sign_ins.list_of_member(ctx, "bob")[0].used_at

    town.clock.pass_by(59)
    sign_ins.authenticate(town.platform, signed_in.secret)
    assert used_at() == began
    used = town.clock.pass_by(1)
    sign_ins.authenticate(town.platform, signed_in.secret)
    assert used_at() == used
    assert town.platform.last_used.flush(town.platform.database) == 0
