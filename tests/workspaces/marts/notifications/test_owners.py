"""Technical Owners of data marts whose role is Business User are named, to those who see them."""

from __future__ import annotations

import pytest

from lakehold.access import Grant
from lakehold.directory.caller import Caller
from lakehold.directory.errors import HiddenError
from lakehold.workspaces.marts.notifications import receivers
from tests.platform import ADA
from tests.workspaces.marts.notifications.sales_project import BEN, MART, NED, PAM, PROJECT, TESS, SalesProject


def named(sales_project: SalesProject, by: Caller) -> list[tuple[str, str]]:
    with sales_project.platform.read(by) as ctx:
        return [(each.mart.uid, each.owner.uid) for each in receivers.underprivileged_owners(ctx, PROJECT)]


def test_there_are_none_at_first(sales_project: SalesProject) -> None:
    assert named(sales_project, PAM) == named(sales_project, BEN) == []


def test_who_keeps_the_settings_sees_all_and_others_themselves(sales_project: SalesProject) -> None:
    sales_project.set_role("ned", "business_user")
    sales_project.add_grants(Grant("ben", "technical_owner", MART), Grant("ned", "business_owner", MART))
    assert named(sales_project, PAM) == named(sales_project, ADA) == [(MART, "ben")]
    assert named(sales_project, BEN) == [(MART, "ben")]
    assert named(sales_project, TESS) == named(sales_project, NED) == []
    sales_project.set_role("ben", "technical_user")
    assert named(sales_project, PAM) == []


def test_who_was_downgraded_is_named_and_who_left_is_not(sales_project: SalesProject) -> None:
    sales_project.set_role("tess", "business_user")
    assert named(sales_project, PAM) == [(MART, "tess")]
    sales_project.set_role("tess", "")
    assert named(sales_project, PAM) == []
    with pytest.raises(HiddenError):
        named(sales_project, TESS)


def test_an_admin_of_the_tenant_is_no_business_user(sales_project: SalesProject) -> None:
    sales_project.set_role("ada", "business_user")
    sales_project.add_grants(Grant("ada", "technical_owner", MART))
    assert named(sales_project, PAM) == []
