"""The first run."""

from __future__ import annotations

from pydantic import Field

from lakehold import workspaces
from lakehold.api.directory.texts import EmailText, NewPassword, SecretText
from lakehold.api.directory.visiting import SignedInJson, Visiting, let_in
from lakehold.api.frame.models import Answer, Body, NameText
from lakehold.api.frame.routes import problems, router
from lakehold.api.frame.works import House, retried
from lakehold.directory import tenants
from lakehold.directory.authentication import PasswordMethod, sign_in
from lakehold.directory.tenants import TenantSetup

routes = router("/api/v1/first-run", "First run")


class FirstRunState(Answer):
    """Whether somebody has been here."""

    open: bool = Field(description="Whether nobody has come yet: then whoever comes first becomes the Owner.")


class FirstOwner(Body):
    """The first tenant, and its Owner."""

    tenant: NameText = Field(examples=["Corner & Main"], description="The name of the tenant.")
    name: NameText = Field(examples=["Olga, Owner"], description="The Owner's name.")
    email: EmailText
    password: NewPassword
    secret: SecretText = Field(examples=["lhf_4fK0aQx9Zb…"], description="What `lakehold up` printed.")


@routes.get("")
def get_first_run(platform: House) -> FirstRunState:
    """Has nobody been here yet?"""
    return FirstRunState(open=tenants.is_setup_open(platform))


@routes.post("", status_code=201, responses=problems(401, 409))
def begin_first_run(platform: House, visit: Visiting, body: FirstOwner) -> SignedInJson:
    """Set the installation up: make its first tenant, and become its Owner.

    Works once, for whoever was told the secret. Whoever did it is signed in.
    """
    tenants.need_setup_secret(platform, body.secret.get_secret_value())
    password = body.password.get_secret_value()
    wanted = TenantSetup(body.tenant, body.name, body.email, password)
    founded = retried(lambda: tenants.create_first_tenant(platform, workspaces.models(), wanted, visit))
    return let_in(
        platform, retried(lambda: sign_in(platform, PasswordMethod(body.email, password, founded.tenant), visit))
    )
