"""Endpoints of the tenant's network policy: which hosts and mail domains its connections may reach."""

import json
from typing import Annotated, Literal, Self

from pydantic import Field

from lakehold.api.catalog.schemas import RefJson
from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.api.http.models import IfMatch, ItemsResponse, NameText, RequestModel, ResponseModel, TaggedResponse
from lakehold.api.http.routing import make_router, problem_responses
from lakehold.catalog import network_policy
from lakehold.catalog.network_policy_impact import find_refused
from lakehold.directory.request_context import RequestContext
from lakehold.kit.network_policy import MAX_ENTRIES, SCHEMA, NetworkPolicy

routes = make_router("/api/v1/tenant", "Tenant")

Entries = Annotated[list[NameText], Field(max_length=MAX_ENTRIES, examples=[["example.org", "*.example.org"]])]
_DESTINATIONS = (
    "Hosts that data may be sent to: a name, `*.` and a name, an address or a range, each perhaps with a port."
)
_MAIL = "Mail domains that data may be sent to."
_SOURCES = "Hosts that data may be read from."
_NULL = "Null allows all, an empty list none."


class NetworkPolicyUpdate(RequestModel):
    """The whole policy."""

    destination_hosts: Entries | None = Field(description=f"{_DESTINATIONS} {_NULL}")
    mail_domains: Entries | None = Field(description=f"{_MAIL} {_NULL}")
    source_hosts: Entries | None = Field(description=f"{_SOURCES} {_NULL}")

    def to_policy(self) -> NetworkPolicy:
        """Return the policy, or refuse an entry that has no meaning."""
        return SCHEMA.parse(self.model_dump())


class RefusedResourceJson(ResponseModel):
    """A resource that leads to a host or mail domain which the policy does not allow."""

    resource: RefJson
    workspace: RefJson | None
    list: Literal["destination_hosts", "mail_domains", "source_hosts"] = Field(description="The list that refuses it.")
    field: str = Field(examples=["address"], description="The setting, or the credential, that leads there.")
    host: str = Field(examples=["hooks.example.org"], description="Empty if it cannot be told.")


class NetworkPolicyJson(TaggedResponse):
    """The network policy of the tenant, and what it refuses."""

    destination_hosts: Entries | None = Field(description=f"{_DESTINATIONS} {_NULL}")
    mail_domains: Entries | None = Field(description=f"{_MAIL} {_NULL}")
    source_hosts: Entries | None = Field(description=f"{_SOURCES} {_NULL}")
    refused: list[RefusedResourceJson] = Field(description="Resources that the caller sees and the policy refuses.")

    def version(self) -> bytes:
        """Return the policy alone."""
        return json.dumps([self.destination_hosts, self.mail_domains, self.source_hosts]).encode()

    @classmethod
    def load(cls, ctx: RequestContext) -> Self:
        """Return the present policy."""
        policy = network_policy.get(ctx)
        lists = {name: getattr(policy, name) for name in NetworkPolicyUpdate.model_fields}
        return cls.model_validate({**lists, "refused": find_refused(ctx, policy)})


@routes.get("/network-policy")
def get_network_policy(ctx: ReadContext) -> NetworkPolicyJson:
    """Get the network policy.

    Needs the right `see_settings` of the tenant.
    """
    return NetworkPolicyJson.load(ctx)


@routes.put("/network-policy", responses=problem_responses(412, 428))
def set_network_policy(ctx: WriteContext, body: NetworkPolicyUpdate, seen: IfMatch) -> NetworkPolicyJson:
    """Set the network policy.

    Needs the right `see_settings` of the tenant; a narrowed token cannot. What it refuses stays as it is, and cannot
    be run until it is changed.
    """
    seen.need(NetworkPolicyJson.load(ctx))
    network_policy.save(ctx, body.to_policy())
    return NetworkPolicyJson.load(ctx)


@routes.post("/network-policy/try", operation_id="try_network_policy")
def preview_network_policy(ctx: ReadContext, body: NetworkPolicyUpdate) -> ItemsResponse[RefusedResourceJson]:
    """List what a network policy would refuse.

    Nothing is changed. Needs the right `see_settings` of the tenant.
    """
    return ItemsResponse[RefusedResourceJson].from_records(find_refused(ctx, body.to_policy()))
