"""Permissions, runs and the audit log as tables: each principal's own."""

from __future__ import annotations

import pytest

from lakehold.access import TokenPrincipal
from lakehold.directory.caller import Caller
from lakehold.kit.errors import LakeholdError
from lakehold.lake.errors import QueryError
from lakehold.runs import worker_client
from tests.lake.shop import ADA, ED, RITA, SAM, TENANT, Shop

pytestmark = pytest.mark.slow


def test_everybody_sees_what_they_may_do_themselves(shop: Shop) -> None:
    asked = "SELECT member, workspace, resource_name, action FROM system.access WHERE kind = 'lakehouse.table'"
    found = shop.ask(SAM, asked, workspace="Other")
    assert ("sam", "other", "elsewhere", "read") in found
    assert {(row[0], row[2]) for row in found} == {("sam", "elsewhere")}
    read = {row[2] for row in shop.ask(RITA, asked) if row[3] == "read"}
    assert read == {"orders", "customers", "sums"}


def test_who_may_ask_about_others_sees_all_of_them(shop: Shop) -> None:
    asked = "SELECT member, member_name FROM system.access WHERE resource = 'orders' AND action = 'read' ORDER BY 1"
    assert shop.ask(ADA, asked) == [("ada", "Ada"), ("ed", "Ed"), ("rita", "Rita")]
    with shop.platform.read(ADA) as ctx:
        allowed = {
            (member, uid, action)
            for uid in ("orders", "hidden", "raw", "shop")
            for action in ctx.view.policy.kind(ctx.view.kind(ctx.view.resource(uid))).schema.actions
            for member in ctx.session.who(action, uid)
        }
    asked = "SELECT member, resource, action FROM system.access WHERE resource IN ('orders', 'hidden', 'raw', 'shop')"
    assert set(shop.ask(ADA, asked)) == allowed


def test_a_name_in_another_case_and_the_long_way_there(shop: Shop) -> None:
    counted = [
        shop.ask(RITA, f"SELECT count(*) FROM {name}")
        for name in ("system.access", "SYSTEM.Access", "`system`.`access`", "lake.system.access")
    ]
    assert len({rows[0] for rows in counted}) == 1
    assert counted[0][0] != (0,)


def test_two_mentions_in_one_query_are_one_state(shop: Shop) -> None:
    found = shop.ask(ADA, "SELECT count(*) FROM system.audit AS a FULL JOIN system.audit AS b USING (n)")
    assert found == shop.ask(ADA, "SELECT count(DISTINCT n) FROM system.audit")


def test_the_audit_log_is_for_who_may_see_it(shop: Shop) -> None:
    with shop.platform.write(ADA) as ctx:
        ctx.note("wave", "orders", after={"hand": "left"})
    found = shop.ask(ADA, "SELECT member, resource, after FROM system.audit WHERE action = 'wave'")
    assert ("ada", "orders", '{"hand": "left"}') in found
    for caller in (RITA, ED):
        with pytest.raises(LakeholdError) as refused:
            shop.ask(caller, "SELECT * FROM system.audit")
        assert "wave" not in str(refused.value)


def test_a_token_that_is_narrowed_shows_no_more_than_it_opens(shop: Shop) -> None:
    narrow = Caller(TENANT, "rita", narrowed=TokenPrincipal("rita", resources=frozenset({"orders"})))
    found = shop.ask(narrow, "SELECT DISTINCT resource FROM system.access WHERE kind = 'lakehouse.table'")
    assert found == [("orders",)]


def test_what_the_platform_tells_of_itself_cannot_be_kept(shop: Shop) -> None:
    with pytest.raises(QueryError, match=r"system"):
        worker_client.describe_query(shop.platform, ADA, workspace="Shop", text="SELECT * FROM system.access")


def test_nothing_is_left_behind_a_query(shop: Shop) -> None:
    shop.ask(RITA, "SELECT count(*) FROM system.access")
    assert list((shop.platform.settings.data / "system").iterdir()) == []


@pytest.mark.parametrize("text", ["SELECT * FROM system.keys", "SELECT * FROM system.access.files"])
def test_other_names_mean_nothing(shop: Shop, text: str) -> None:
    with pytest.raises(LakeholdError):
        shop.ask(ADA, text)
