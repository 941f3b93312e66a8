"""Who receives what: by their role, by a choice that still counts, and by whose hand it may be changed."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from lakehold.access import Grant, TokenPrincipal
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.kit.clock import DAY
from lakehold.kit.errors import ForbiddenError, InvalidInputError, NotFoundError
from lakehold.ledger.audit import AuditFilter, AuditLogEntry
from lakehold.workspaces.marts.notifications import receivers
from lakehold.workspaces.marts.notifications.preferences import MemberSide, NotificationChannel
from tests.access.company import TENANT
from tests.platform import ADA
from tests.workspaces.marts.notifications.sales_project import BEN, MART, NED, PAM, PROJECT, TESS, SalesProject

ALL = f"{TENANT}/all"


def audited(sales_project: SalesProject) -> list[AuditLogEntry]:
    with sales_project.platform.read(ADA) as ctx:
        return [each.entry for each in ctx.audit.page(AuditFilter(action="set notifications"))]


def test_admins_and_technical_users_receive_by_default_and_nobody_else(sales_project: SalesProject) -> None:
    assert sales_project.receive(NotificationChannel.FAILED_RUNS) == ["pam", "tess"]
    assert sales_project.receive(NotificationChannel.BROKEN_CHECKS) == ["pam", "tess"]
    # Off until it is switched on.
    assert sales_project.receive(NotificationChannel.SUCCEEDED_RUNS) == []
    sales_project.switch(succeeded_runs=True, failed_runs=False)
    assert sales_project.receive(NotificationChannel.SUCCEEDED_RUNS) == ["pam", "tess"]
    assert sales_project.receive(NotificationChannel.FAILED_RUNS) == []


def test_who_joins_is_subscribed_by_their_role(sales_project: SalesProject) -> None:
    for role, on in (("admin", True), ("technical_user", True), ("business_user", False)):
        sales_project.set_role("ned", role)
        assert sales_project.subscribed("ned") == (on, False)


def test_a_promotion_subscribes_and_a_downgrade_unsubscribes(sales_project: SalesProject) -> None:
    sales_project.set_role("ben", "technical_user")
    assert sales_project.subscribed("ben") == (True, False)
    sales_project.set_role("ben", "business_user")
    assert sales_project.subscribed("ben") == (False, False)


def test_a_business_user_who_chose_to_receive_is_unsubscribed_by_going_up_and_down(sales_project: SalesProject) -> None:
    sales_project.choose(BEN, "ben", failed_runs=True)
    assert sales_project.subscribed("ben") == (True, True)
    assert sales_project.receive() == ["ben", "pam", "tess"]
    sales_project.set_role("ben", "technical_user")
    assert sales_project.subscribed("ben") == (True, False)
    sales_project.set_role("ben", "business_user")
    assert sales_project.subscribed("ben") == (False, False)
    assert sales_project.receive() == ["pam", "tess"]


def test_a_technical_user_who_chose_not_to_is_subscribed_by_going_down_and_up(sales_project: SalesProject) -> None:
    sales_project.choose(TESS, "tess", failed_runs=False)
    assert sales_project.subscribed("tess") == (False, True)
    sales_project.set_role("tess", "business_user")
    assert sales_project.subscribed("tess") == (False, False)
    sales_project.set_role("tess", "technical_user")
    assert sales_project.subscribed("tess") == (True, False)


def test_a_choice_stays_while_somebody_stays_on_their_side(sales_project: SalesProject) -> None:
    sales_project.choose(TESS, "tess", failed_runs=False)
    sales_project.set_role("tess", "admin")
    assert sales_project.subscribed("tess") == (False, True)
    # By a group too, without a gap: the grant goes, and the group's is there already.
    sales_project.group("makers", "tess")
    sales_project.add_grants(Grant("makers", "technical_user", PROJECT))
    sales_project.set_role("tess", "")
    assert sales_project.subscribed("tess") == (False, True)
    sales_project.set_group_membership("tess", "makers", into=False)
    assert sales_project.receive() == ["pam"]
    sales_project.set_group_membership("tess", "makers", into=True)
    assert sales_project.subscribed("tess") == (True, False)


def test_who_leaves_and_comes_back_begins_anew(sales_project: SalesProject) -> None:
    sales_project.choose(BEN, "ben", failed_runs=True)
    sales_project.set_role("ben", "")
    assert sales_project.receive() == ["pam", "tess"]
    sales_project.set_role("ben", "business_user")
    assert sales_project.subscribed("ben") == (False, False)


def test_a_role_that_ends_by_itself_ends_the_choice(sales_project: SalesProject) -> None:
    begun = sales_project.platform.clock()
    with sales_project.platform.access.write(TENANT) as session:
        session.store.add(Grant("ben", "technical_user", PROJECT), until=begun + DAY)
    assert sales_project.subscribed("ben") == (True, False)
    sales_project.choose(BEN, "ben", failed_runs=False, broken_checks=True)
    assert sales_project.receive(NotificationChannel.BROKEN_CHECKS) == ["ben", "pam", "tess"]
    sales_project.platform.access.clock = sales_project.platform.clock = lambda: begun + 2 * DAY
    assert sales_project.subscribed("ben") == (False, False)
    assert sales_project.receive(NotificationChannel.BROKEN_CHECKS) == ["pam", "tess"]


def test_the_highest_of_direct_and_group_counts(sales_project: SalesProject) -> None:
    sales_project.group("makers", "ben")
    sales_project.add_grants(Grant("makers", "technical_user", PROJECT))
    assert sales_project.subscribed("ben") == (True, False)
    # The group All means who holds a role by themselves.
    sales_project.set_group_membership("ben", "makers", into=False)
    sales_project.add_grants(Grant(ALL, "technical_user", PROJECT))
    assert sales_project.receive() == ["ben", "pam", "tess"]
    sales_project.choose(BEN, "ben", failed_runs=False)
    sales_project.remove_grants(Grant(ALL, "technical_user", PROJECT))
    assert sales_project.subscribed("ben") == (False, False)


def test_who_is_an_admin_by_the_tenant_has_not_joined_and_may_subscribe(sales_project: SalesProject) -> None:
    assert sales_project.subscribed("ada", by=ADA) == (False, False)
    with sales_project.platform.read(PAM) as ctx:
        (ada,) = (each for each in receivers.list_receivers(ctx, PROJECT) if each.member.uid == "ada")
    assert (ada.role, ada.side, ada.joined) == ("admin", MemberSide.ABOVE, False)
    sales_project.choose(ADA, "ada", failed_runs=True)
    assert sales_project.receive() == ["ada", "pam", "tess"]
    # With the tenant's role the choice goes.
    sales_project.remove_grants(Grant("ada", "owner", TENANT))
    assert sales_project.receive() == ["pam", "tess"]
    sales_project.add_grants(Grant("ada", "admin", TENANT))
    assert sales_project.subscribed("ada", by=ADA) == (False, False)
    # Whoever joins does so with a role of their own.
    sales_project.choose(ADA, "ada", failed_runs=False)
    sales_project.set_role("ada", "technical_user")
    assert sales_project.subscribed("ada") == (True, False)


def test_it_can_be_taken_back_to_what_the_role_has(sales_project: SalesProject) -> None:
    assert sales_project.choose(PAM, "ben", failed_runs=True).channels[NotificationChannel.FAILED_RUNS].on
    assert sales_project.subscribed("ben") == (True, True)
    sales_project.choose(PAM, "ben", failed_runs=None)
    assert sales_project.subscribed("ben") == (False, False)


def test_members_change_themselves_and_who_keeps_the_settings_everybody(sales_project: SalesProject) -> None:
    with sales_project.platform.read(BEN) as ctx:
        assert [each.member.uid for each in receivers.list_receivers(ctx, PROJECT)] == ["ben"]
    for by, other in ((BEN, "tess"), (TESS, "ben")):
        with pytest.raises(DeniedError, match="manage settings"):
            sales_project.choose(by, other, failed_runs=True)
        with pytest.raises(DeniedError, match="manage settings"):
            sales_project.switch(by, failed_runs=False)
    with pytest.raises(HiddenError):
        sales_project.choose(NED, "ned", failed_runs=True)
    sales_project.choose(PAM, "ben", failed_runs=True)
    sales_project.choose(ADA, "tess", failed_runs=False)
    assert sales_project.receive() == ["ben", "pam"]
    # Who only looks, and who shows a token that was made for something else, change nothing of their own.
    with pytest.raises(ForbiddenError):
        sales_project.choose(replace(BEN, impersonator="ada"), "ben", failed_runs=False)
    narrow = Caller(TENANT, "ben", narrowed=TokenPrincipal("ben", actions=frozenset({"see"})))
    with pytest.raises(DeniedError):
        sales_project.choose(narrow, "ben", failed_runs=False)
    assert sales_project.receive() == ["ben", "pam"]


def test_changes_are_written_down_once(sales_project: SalesProject) -> None:
    sales_project.switch(succeeded_runs=True, failed_runs=True)
    sales_project.choose(PAM, "ben", failed_runs=True)
    sales_project.choose(PAM, "ben", failed_runs=True)
    second, first = audited(sales_project)
    assert (first.member, first.resource) == ("pam", PROJECT)
    assert (dict(first.before), dict(first.after)) == ({"succeeded_runs": False}, {"succeeded_runs": True})
    assert dict(second.before) == {"member": "ben", "failed_runs": "off by default"}
    assert dict(second.after) == {"member": "ben", "failed_runs": "on"}


@pytest.mark.parametrize(
    ("member", "choices", "said"),
    [
        ("ben", {"failed_rums": True}, "no channel 'failed_rums'.*failed_runs"),
        ("ben", {"failed_runs": "yes"}, "on or off, not 'yes'"),
        ("ned", {"failed_runs": True}, "'ned' is not in the project"),
        (ALL, {"failed_runs": True}, "is not a member"),
    ],
)
def test_what_cannot_be_is_refused_by_name(
    sales_project: SalesProject, member: str, choices: dict[str, bool], said: str
) -> None:
    with pytest.raises(InvalidInputError, match=said), sales_project.platform.write(PAM) as ctx:
        receivers.set_subscription(ctx, PROJECT, member, choices)


def test_what_is_not_there_is_refused(sales_project: SalesProject) -> None:
    with pytest.raises(InvalidInputError, match="is no project"), sales_project.platform.write(PAM) as ctx:
        receivers.set_subscription(ctx, MART, "ben", {})
    with pytest.raises(NotFoundError, match="nobody"), sales_project.platform.write(PAM) as ctx:
        receivers.set_subscription(ctx, PROJECT, "nobody", {"failed_runs": True})


def test_whatever_happens_a_choice_lasts_as_long_as_its_side(sales_project: SalesProject) -> None:
    """A walk of grants, groups and choices, beside somebody who writes down at each step what should be so."""
    rng = random.Random(11)  # noqa: S311 - the same walk in every run
    people, groups = ("ben", "tess", "ned"), ("makers", "readers")
    for group in groups:
        sales_project.group(group)
    held = {("ben", "business_user"), ("tess", "technical_user")}
    inside: set[tuple[str, str]] = set()
    sides = {who: side(who, held, inside) for who in people}
    chosen: dict[str, bool] = {}
    for _ in range(120):
        subject, role = rng.choice((*people, *groups)), rng.choice(("technical_user", "business_user", "admin"))
        who, group = rng.choice(people), rng.choice(groups)
        match rng.choice(("grant", "revoke", "in", "out", "choose", "choose")):
            case "grant":
                sales_project.add_grants(Grant(subject, role, PROJECT))
                held.add((subject, role))
            case "revoke":
                sales_project.remove_grants(Grant(subject, role, PROJECT))
                held.discard((subject, role))
            case "in":
                sales_project.set_group_membership(who, group, into=True)
                inside.add((who, group))
            case "out":
                sales_project.set_group_membership(who, group, into=False)
                inside.discard((who, group))
            case _ if sides[who]:
                chosen[who] = rng.random() < 0.5
                sales_project.choose(PAM, who, failed_runs=chosen[who])
        now = {who: side(who, held, inside) for who in people}
        for each in people:
            if now[each] != sides[each]:
                chosen.pop(each, None)
        sides = now
        expected = {who for who in people if chosen.get(who, sides[who] == "technical") and sides[who]}
        assert set(sales_project.receive()) == {"pam", *expected}


def side(who: str, held: set[tuple[str, str]], inside: set[tuple[str, str]]) -> str:
    mine = {who, *(group for member, group in inside if member == who)}
    roles = {role for subject, role in held if subject in mine}
    return "technical" if roles & {"admin", "technical_user"} else "business" if roles else ""


def test_files_have_the_choices_that_count(sales_project: SalesProject) -> None:
    """Others would come to life again."""
    sales_project.switch(succeeded_runs=True)
    sales_project.choose(BEN, "ben", failed_runs=True)
    sales_project.choose(TESS, "tess", failed_runs=False)
    sales_project.set_role("tess", "business_user")
    with sales_project.platform.write(ADA) as ctx:
        found = receivers.load_choices(ctx)
        value = {"channels": {"succeeded_runs": True}, "members": {"ben": {"failed_runs": True}}}
        assert found == {PROJECT: value}
        assert not receivers.save_choices(ctx, PROJECT, value)
        assert receivers.save_choices(ctx, PROJECT, None)
        assert receivers.load_choices(ctx) == {}
        assert receivers.save_choices(ctx, PROJECT, {"members": {"tess": {"failed_runs": True}}})
    assert (sales_project.subscribed("tess"), sales_project.subscribed("ben")) == ((True, True), (False, False))
    assert audited(sales_project)[0].after == {"members": {"tess": {"failed_runs": True}}}
