"""Technical Owners of data marts whose role is Business User are named, to those who see them."""

from __future__ import annotations

import pytest

from lakehold.access import Grant
from lakehold.directory.caller import Caller
from lakehold.directory.errors import HiddenError
from lakehold.workspaces.marts.notifications import receivers
from tests.house import ADA
from tests.workspaces.marts.notifications.office import BEN, MART, NED, PAM, PROJECT, TESS, Office


def named(office: Office, by: Caller) -> list[tuple[str, str]]:
    with office.platform.read(by) as ctx:
        return [(each.mart.uid, each.owner.uid) for each in receivers.underprivileged_owners(ctx, PROJECT)]


def test_there_are_none_at_first(office: Office) -> None:
    assert named(office, PAM) == named(office, BEN) == []


def test_who_keeps_the_settings_sees_all_and_others_themselves(office: Office) -> None:
    office.becomes("ned", "business_user")
    office.holds(Grant("ben", "technical_owner", MART), Grant("ned", "business_owner", MART))
    assert named(office, PAM) == named(office, ADA) == [(MART, "ben")]
    assert named(office, BEN) == [(MART, "ben")]
    assert named(office, TESS) == named(office, NED) == []
    office.becomes("ben", "technical_user")
    assert named(office, PAM) == []


def test_who_was_downgraded_is_named_and_who_left_is_not(office: Office) -> None:
    office.becomes("tess", "business_user")
    assert named(office, PAM) == [(MART, "tess")]
    office.becomes("tess", "")
    assert named(office, PAM) == []
    with pytest.raises(HiddenError):
        named(office, TESS)


def test_an_admin_of_the_tenant_is_no_business_user(office: Office) -> None:
    office.becomes("ada", "business_user")
    office.holds(Grant("ada", "technical_owner", MART))
    assert named(office, PAM) == []
