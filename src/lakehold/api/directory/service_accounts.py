"""Service accounts. Once made, one is a member like others: see there for the rest."""

from __future__ import annotations

from pydantic import Field

from lakehold.api.directory import people
from lakehold.api.directory.people import MemberJson
from lakehold.api.frame.models import Body, IdText, NameText
from lakehold.api.frame.paging import Page
from lakehold.api.frame.routes import router
from lakehold.api.frame.works import Creating, Reading
from lakehold.directory import members

routes = router("/api/v1/service-accounts", "Service accounts")


class NewServiceAccount(Body):
    """A service account that is to be."""

    name: NameText = Field(examples=["Nightly import"])
    id: IdText | None = Field(default=None, examples=["nightly"], description="Without one it is made.")


@routes.get("")
def list_service_accounts(ctx: Reading) -> Page[MemberJson]:
    """All service accounts, by name."""
    return Page(items=[people.told(found) for found in members.list_service_accounts(ctx)])


@routes.post("", status_code=201)
def create_service_account(ctx: Creating, body: NewServiceAccount) -> MemberJson:
    """Make a service account.

    It can do nothing until it is given roles and a token.
    """
    return people.told(members.get(ctx, members.create_service_account(ctx, body.name, uid=body.id)))
