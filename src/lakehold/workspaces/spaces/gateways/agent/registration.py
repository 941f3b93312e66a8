"""Registers this gateway: makes its keys, and sends the public ones with the code and a proof that it has them."""

import ipaddress
from importlib.metadata import version
from urllib.parse import urlsplit

import httpx

from lakehold.kit.errors import ConflictError, InvalidInputError, UnavailableError
from lakehold.workspaces.spaces.gateways.agent.identity_folder import GatewayConfiguration, IdentityFolder
from lakehold.workspaces.spaces.gateways.key_pairs import KeyPairs

PATH = "/api/v1/gateways/register"
_TIMEOUT = 30
_CLIENT_ERRORS = 400


def register(server: str, code: str, folder: IdentityFolder) -> GatewayConfiguration:
    """Register with a code, and store keys and address in the folder."""
    folder.refuse_registered()
    _refuse_plain_http(server)
    keys = KeyPairs.generate()
    body = {
        "code": code.strip(),
        "signing_key": keys.public.signing,
        "sealing_key": keys.public.sealing,
        "proof": keys.prove("register", code.strip()),
        "version": version("lakehold"),
    }
    try:
        response = httpx.post(server.rstrip("/") + PATH, json=body, timeout=_TIMEOUT)
        answer = response.json()
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        hint = "Check --server; for an own authority set SSL_CERT_FILE."
        raise UnavailableError(f"{server} cannot be reached: {error}.", hint) from error
    except ValueError as error:
        raise ConflictError(f"{server} is no Lakehold server.", "Check --server.") from error
    if response.status_code >= _CLIENT_ERRORS:
        refused = ConflictError(str(answer.get("detail", "The gateway was refused.")), str(answer.get("hint") or ""))
        refused.status = response.status_code
        raise refused
    tenant, gateway, name = (str(answer[each]) for each in ("tenant", "gateway", "name"))
    found = GatewayConfiguration(tenant, gateway, name, str(answer["address"]), str(answer["authority"]), keys)
    folder.save(found)
    return found


def _refuse_plain_http(server: str) -> None:
    """Refuse to send the code where others can read it on its way."""
    try:
        parts = urlsplit(server)
        scheme, host = parts.scheme, parts.hostname or ""
    except ValueError:
        scheme, host = "", ""
    if scheme not in {"http", "https"} or not host:
        raise InvalidInputError(f"{server} is not the URL of a server.", "Write its whole URL.", field="server")
    if scheme == "http" and not _is_loopback(host):
        hint = "Use HTTPS, or a tunnel that ends on this machine."
        raise InvalidInputError("The code would cross the network unencrypted.", hint, field="server")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
