"""Choosing among people, however many are to be left out."""

from __future__ import annotations

from unittest import mock

from lakehold.demo import company
from lakehold.directory.caller import Caller
from lakehold.web.people import member_picker
from tests.web.demo import Shop


def test_those_who_are_in_already_are_left_out_however_many_they_are(shop: Shop) -> None:
    with shop.platform.read(Caller(company.TENANT, "olga")) as ctx, mock.patch.object(member_picker, "MAX_OPTIONS", 2):
        everybody = [*company.PEOPLE, "nightly"]
        left = member_picker.member_choices(ctx, but=set(everybody) - {"tara", "victor"})
        assert [uid for uid, _ in left.options] == ["tara", "victor"]
        assert not left.more
        few = member_picker.member_choices(ctx, but={"adam"})
        assert [uid for uid, _ in few.options] == ["ana", "bella"]
        assert few.more


def test_who_is_chosen_is_among_them_even_if_there_are_too_many(shop: Shop) -> None:
    with shop.platform.read(Caller(company.TENANT, "olga")) as ctx, mock.patch.object(member_picker, "MAX_OPTIONS", 1):
        assert [uid for uid, _ in member_picker.member_choices(ctx, chosen="tara").options] == ["tara", "adam"]
