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
from tests.workspaces.marts.notifications.office import BEN, MART, PAM, PROJECT, TESS, Office, opened

CHANNELS = ["failed_runs", "broken_checks", "succeeded_runs"]
TECHNICAL = [ADMIN, TU]


@pytest.fixture
def office(platform: Platform) -> Office:
    """Pam is Admin of the project, Tess a Technical User, Ben a Business User. Ned joins in the tests."""
    return opened(platform)


def subscribed(office: Office, member: str) -> list[str]:
    """The channels that a member is subscribed to."""
    with office.platform.read(PAM) as ctx:
        (found,) = (each for each in receivers.list_receivers(ctx, PROJECT) if each.member.uid == member)
    return [channel.value for channel, way in found.channels.items() if way.on]


def warned(office: Office) -> list[tuple[str, str]]:
    with office.platform.read(PAM) as ctx:
        return [(each.mart.uid, each.owner.uid) for each in receivers.underprivileged_owners(ctx, PROJECT)]


def test_the_channels_are_these() -> None:
    assert [channel.value for channel in NotificationChannel] == CHANNELS


@pytest.mark.parametrize(("role", "yes"), [(ADMIN, False), (TU, False), (BU, True)])
def test_a_warning_for_technical_owners_with_an_insufficient_role(office: Office, role: str, yes: bool) -> None:
    """000 Ownership: a warning for Data Mart Technical Owners with an insufficient role."""
    office.becomes("ned", role)
    office.holds(Grant("ned", "technical_owner", MART))
    assert warned(office) == ([(MART, "ned")] if yes else [])


def test_a_business_owner_needs_no_warning(office: Office) -> None:
    """000 Ownership: the warning is for Technical Owners; a Business User is enough for a Business Owner."""
    office.holds(Grant("ben", "business_owner", MART))
    assert warned(office) == []


@pytest.mark.parametrize("role", TECHNICAL)
def test_subscribed_to_all_channels_upon_joining(office: Office, role: str) -> None:
    """001 Admin, Notifications; Technical User, Notifications: automatically, to all project notification channels."""
    office.becomes("ned", role)
    assert subscribed(office, "ned") == CHANNELS


@pytest.mark.parametrize("role", TECHNICAL)
def test_subscribed_upon_joining_by_a_group(office: Office, role: str) -> None:
    """access-models.md: of several roles, direct and by groups, the highest counts."""
    office.becomes("ned", BU)
    office.group("makers", "ned")
    office.holds(Grant("makers", role, PROJECT))
    assert subscribed(office, "ned") == CHANNELS


@pytest.mark.parametrize("role", TECHNICAL)
def test_subscribed_upon_promotion(office: Office, role: str) -> None:
    """access-models.md, marts, settled: Admin and Technical User are subscribed on promotion too."""
    office.becomes("ben", role)
    assert subscribed(office, "ben") == CHANNELS


def test_a_business_user_is_not_subscribed_by_default(office: Office) -> None:
    """001 Business User, Notifications 1: not subscribed by default, and may be by choice."""
    assert subscribed(office, "ben") == []
    office.choose(BEN, "ben", broken_checks=True)
    assert subscribed(office, "ben") == ["broken_checks"]


@pytest.mark.parametrize("chose", [False, True])
def test_a_downgrade_removes_from_the_receivers(office: Office, chose: bool) -> None:
    """001 Business User, Notifications 2: automatically, if their role is downgraded from Technical User."""
    if chose:
        office.choose(TESS, "tess", failed_runs=True)
    office.becomes("tess", BU)
    assert subscribed(office, "tess") == []
    assert office.receive() == ["pam"]


def test_a_notice_goes_only_to_receivers_who_may_see_the_data_mart(office: Office) -> None:
    """access-models.md, marts, settled: at the moment of telling, whatever the role."""
    office.becomes("ned", TU)
    office.ends(MART, "It failed.")
    assert set(office.told()) == {"ned", "pam", "tess"}
    office.forget()
    with office.platform.access.write(TENANT) as session:
        session.store.add(Attribute(MART, "shared_for_reporting", "false"))
    office.ends(MART, "It failed.")
    # Who owns it and who is Admin see it all the same.
    assert set(office.told()) == {"pam", "tess"}
