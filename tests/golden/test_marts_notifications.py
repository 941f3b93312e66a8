"""Seeds 000_e43d1ba18a15cdc7 and 001_e95442de0b1bc8c7: what they say of notifications, in their order, on a project in
a database. That the warning stands on the Notification Settings page is seen in `tests/web/marts`.
"""

from __future__ import annotations

import pytest

from lakehold.access import Attribute, Grant
from lakehold.directory.platform import Platform
from lakehold.workspaces.marts.notifications import receivers
from lakehold.workspaces.marts.notifications.preferences import NotificationChannel
from tests.access.company import TENANT
from tests.golden.marts_world import ADMIN, BU, TU
from tests.workspaces.marts.notifications.sales_project import (
    BEN,
    MART,
    PAM,
    PROJECT,
    TESS,
    SalesProject,
    create_sales_project,
)

CHANNELS = ["failed_runs", "broken_checks", "succeeded_runs"]
TECHNICAL = [ADMIN, TU]


@pytest.fixture
def sales_project(platform: Platform) -> SalesProject:
    """Pam is Admin of the project, Tess a Technical User, Ben a Business User. Ned joins in the tests."""
    return create_sales_project(platform)


def subscribed(sales_project: SalesProject, member: str) -> list[str]:
    """The channels that a member is subscribed to."""
    with sales_project.platform.read(PAM) as ctx:
        (found,) = (each for each in receivers.list_receivers(ctx, PROJECT) if each.member.uid == member)
    return [channel.value for channel, way in found.channels.items() if way.on]


def warned(sales_project: SalesProject) -> list[tuple[str, str]]:
    with sales_project.platform.read(PAM) as ctx:
        return [(each.mart.uid, each.owner.uid) for each in receivers.underprivileged_owners(ctx, PROJECT)]


def test_the_channels_are_these() -> None:
    assert [channel.value for channel in NotificationChannel] == CHANNELS


@pytest.mark.parametrize(("role", "yes"), [(ADMIN, False), (TU, False), (BU, True)])
def test_a_warning_for_technical_owners_with_an_insufficient_role(
    sales_project: SalesProject, role: str, yes: bool
) -> None:
    """000 Ownership: a warning for Data Mart Technical Owners with an insufficient role."""
    sales_project.set_role("ned", role)
    sales_project.add_grants(Grant("ned", "technical_owner", MART))
    assert warned(sales_project) == ([(MART, "ned")] if yes else [])


def test_a_business_owner_needs_no_warning(sales_project: SalesProject) -> None:
    """000 Ownership: the warning is for Technical Owners; a Business User is enough for a Business Owner."""
    sales_project.add_grants(Grant("ben", "business_owner", MART))
    assert warned(sales_project) == []


@pytest.mark.parametrize("role", TECHNICAL)
def test_subscribed_to_all_channels_upon_joining(sales_project: SalesProject, role: str) -> None:
    """001 Admin, Notifications; Technical User, Notifications: automatically, to all project notification channels."""
    sales_project.set_role("ned", role)
    assert subscribed(sales_project, "ned") == CHANNELS


@pytest.mark.parametrize("role", TECHNICAL)
def test_subscribed_upon_joining_by_a_group(sales_project: SalesProject, role: str) -> None:
    """access-models.md: of several roles, direct and by groups, the highest counts."""
    sales_project.set_role("ned", BU)
    sales_project.group("makers", "ned")
    sales_project.add_grants(Grant("makers", role, PROJECT))
    assert subscribed(sales_project, "ned") == CHANNELS


@pytest.mark.parametrize("role", TECHNICAL)
def test_subscribed_upon_promotion(sales_project: SalesProject, role: str) -> None:
    """access-models.md, marts, settled: Admin and Technical User are subscribed on promotion too."""
    sales_project.set_role("ben", role)
    assert subscribed(sales_project, "ben") == CHANNELS


def test_a_business_user_is_not_subscribed_by_default(sales_project: SalesProject) -> None:
    """001 Business User, Notifications 1: not subscribed by default, and may be by choice."""
    assert subscribed(sales_project, "ben") == []
    sales_project.choose(BEN, "ben", broken_checks=True)
    assert subscribed(sales_project, "ben") == ["broken_checks"]


@pytest.mark.parametrize("chose", [False, True])
def test_a_downgrade_removes_from_the_receivers(sales_project: SalesProject, chose: bool) -> None:
    """001 Business User, Notifications 2: automatically, if their role is downgraded from Technical User."""
    if chose:
        sales_project.choose(TESS, "tess", failed_runs=True)
    sales_project.set_role("tess", BU)
    assert subscribed(sales_project, "tess") == []
    assert sales_project.receive() == ["pam"]


def test_a_notice_goes_only_to_receivers_who_may_see_the_data_mart(sales_project: SalesProject) -> None:
    """access-models.md, marts, settled: at the moment of telling, whatever the role."""
    sales_project.set_role("ned", TU)
    sales_project.run_to_end(MART, "It failed.")
    assert set(sales_project.subjects_by_recipient()) == {"ned", "pam", "tess"}
    sales_project.clear_mails()
    with sales_project.platform.access.write(TENANT) as session:
        session.store.add(Attribute(MART, "shared_for_reporting", "false"))
    sales_project.run_to_end(MART, "It failed.")
    # Who owns it and who is Admin see it all the same.
    assert set(sales_project.subjects_by_recipient()) == {"pam", "tess"}
