"""Endpoints of gateways: registration, status, log, rotation and revocation."""

from typing import Annotated

from fastapi import Request
from pydantic import Field

from lakehold.api.http.authentication import get_client_info
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, WriteContext, retry_when_busy
from lakehold.api.http.models import IdText, ItemsResponse, RecordEnd, RecordTime, RequestModel, ResponseModel
from lakehold.api.http.routing import make_router, problem_responses
from lakehold.directory.request_context import RequestContext
from lakehold.workspaces.spaces.gateways import endpoint, registration, status
from lakehold.workspaces.spaces.gateways.key_pairs import PublicKeys
from lakehold.workspaces.spaces.gateways.registration import GatewayRegistration

routes = make_router("/api/v1/gateways", "Gateways")

_EXAMPLE = "mErWTj8zd6BDb6r4lrl9xl9vrsobl-nxJetMnkouBzM="
_KeyText = Annotated[str, Field(min_length=44, max_length=44, examples=[_EXAMPLE])]


class RegistrationCodeJson(ResponseModel):
    """A new registration code, which is never shown again."""

    code: str = Field(examples=["lhg_4fK0aQx9Zb_…"])
    until: RecordTime


class RegisterGatewayBody(RequestModel):
    """The registration that `lakehold gateway register` sends."""

    code: Annotated[str, Field(max_length=100, examples=["lhg_4fK0aQx9Zb_…"])]
    signing_key: _KeyText
    sealing_key: _KeyText
    proof: Annotated[str, Field(max_length=200, description="The signature of code and keys.", examples=["Q2…="])]
    version: Annotated[str, Field(max_length=50, examples=["0.1.0"])] = ""


class RegisteredGatewayJson(ResponseModel):
    """A registered gateway, with where it dials."""

    tenant: str = Field(examples=["acme"])
    gateway: str = Field(examples=["shop_gateway"])
    name: str = Field(examples=["Shop"])
    address: str = Field(examples=["lakehold.example:8402"], description="The host and port to dial with TLS.")
    authority: str = Field(description="The certificate of the authority to trust there, as PEM.", examples=["-----…"])


class GatewayTransferJson(ResponseModel):
    """A table that was read through the gateway."""

    state: str = Field(examples=["done"])
    taken_at: RecordEnd = Field(description="Null before the gateway has begun.")
    ended_at: RecordEnd = Field(description="Null while it is under way.")
    rows: int = Field(examples=[1000])
    bytes: int = Field(examples=[64000])
    rows_per_second: int = Field(examples=[250000])


class GatewayStatusJson(ResponseModel):
    """The status of a gateway."""

    state: status.GatewayState
    code_until: RecordEnd = Field(description="Until when a registration code can be used; null if there is none.")
    registered_at: RecordEnd
    revoked_at: RecordEnd
    heartbeat_at: RecordEnd = Field(description="When it last called.")
    version: str = Field(examples=["0.1.0"])
    fingerprint: str = Field(description="Of its public keys.", examples=["0f3a:99c1:2b7d:e480"])
    rotation_due: bool
    rows: int = Field(description="What it has moved since it was registered.", examples=[1000])
    bytes: int = Field(examples=[64000])


class GatewayLogLineJson(ResponseModel):
    """A line of the log of a gateway."""

    at: RecordTime
    level: str = Field(examples=["info"])
    text: str = Field(examples=["connected"])


@routes.post("/register", status_code=201, responses=problem_responses(401, 409))
def register_gateway(request: Request, platform: CurrentPlatform, body: RegisterGatewayBody) -> RegisteredGatewayJson:
    """Register a gateway with a registration code, which is used up."""
    keys = PublicKeys(body.signing_key, body.sealing_key)
    given = GatewayRegistration(body.code, keys, body.proof, body.version)
    address, authority = endpoint.address_of(platform.settings), endpoint.load_authority(platform.settings).decode()
    found = retry_when_busy(lambda: registration.register(platform, given, get_client_info(request)))
    return RegisteredGatewayJson(
        tenant=found.tenant, gateway=found.uid, name=found.name, address=address, authority=authority
    )


@routes.post("/{gateway}/code", status_code=201)
def create_registration_code(ctx: WriteContext, gateway: IdText) -> RegistrationCodeJson:
    """Create a code with which a gateway is registered. It is shown once, expires, and can be used once."""
    created = registration.create_code(ctx, gateway)
    return RegistrationCodeJson.model_validate({"code": created.text, "until": created.until})


@routes.get("/{gateway}/status")
def get_gateway_status(ctx: ReadContext, gateway: IdText) -> GatewayStatusJson:
    """Get the status of a gateway."""
    return _status_json(ctx, gateway)


@routes.get("/{gateway}/transfers")
def list_gateway_transfers(ctx: ReadContext, gateway: IdText) -> ItemsResponse[GatewayTransferJson]:
    """List the last tables that were read through a gateway, newest first."""
    return ItemsResponse[GatewayTransferJson].from_records(status.list_transfers(ctx, gateway))


@routes.get("/{gateway}/log")
def list_gateway_log(ctx: ReadContext, gateway: IdText) -> ItemsResponse[GatewayLogLineJson]:
    """List the newest lines of the log of a gateway, for those who may edit it."""
    return ItemsResponse[GatewayLogLineJson].from_records(status.list_log(ctx, gateway))


@routes.post("/{gateway}/rotate")
def rotate_gateway_keys(ctx: WriteContext, gateway: IdText) -> GatewayStatusJson:
    """Ask a gateway for new keys, which it makes as soon as it is online."""
    registration.request_rotation(ctx, gateway)
    return _status_json(ctx, gateway)


@routes.post("/{gateway}/revoke")
def revoke_gateway(ctx: WriteContext, gateway: IdText) -> GatewayStatusJson:
    """Revoke a gateway: its keys are void at once, also in the middle of a transfer."""
    registration.revoke(ctx, gateway)
    return _status_json(ctx, gateway)


def _status_json(ctx: RequestContext, gateway: str) -> GatewayStatusJson:
    return GatewayStatusJson.model_validate(status.load_status(ctx, gateway))
