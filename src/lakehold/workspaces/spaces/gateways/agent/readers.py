"""The readers of a gateway, by the connector of a connection."""

from collections.abc import Mapping
from typing import Any

from lakehold.connectors.api.connector import ApiLimits, ApiSettings, ApiSourceSettings
from lakehold.connectors.database.settings import POSTGRESQL
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.network_policy import HostList, PolicyList
from lakehold.kit.secret_headers import fill_secrets
from lakehold.kit.settings_schema import adapter_of
from lakehold.workspaces.spaces.gateways.agent.api import ApiReader
from lakehold.workspaces.spaces.gateways.agent.postgres import PostgresSource
from lakehold.workspaces.spaces.gateways.agent.streams import StreamReader

_DATABASE, _API = "database", "api"


def need_readable(stored: Mapping[str, Any]) -> None:
    """Refuse a connection that gateways cannot read."""
    connector, address = stored.get("connector"), str(stored.get("address"))
    if connector != _API and not (connector == _DATABASE and address.startswith(POSTGRESQL)):
        message = "Only databases of PostgreSQL and APIs can be read through a gateway."
        raise InvalidInputError(message, "Leave out the gateway.", field="gateway")


def open_reader(body: Mapping[str, Any], secrets: Mapping[str, str]) -> StreamReader:
    """Return the reader of the connection that a work order is about."""
    stored = body["settings"]
    need_readable(stored)
    if stored["connector"] == _API:
        return ApiReader(_api_settings(stored, secrets, body.get("hosts")))
    return PostgresSource(stored, secrets.get("password", ""))


def _api_settings(stored: Mapping[str, Any], secrets: Mapping[str, str], hosts: list[str] | None) -> ApiSettings:
    """Return the settings of an API in the network of this machine, on the hosts that the platform's tenant allows."""
    given: ApiSourceSettings = adapter_of(ApiSourceSettings).validate_python(stored)
    name = given.auth.credential
    if name and name not in secrets:
        raise InvalidInputError(f"The source has no {name}.", f"Set the credential {name}.", field=name)
    return ApiSettings(
        given.address,
        given.endpoints,
        given.auth,
        secrets.get(name, ""),
        fill_secrets(given.headers, secrets),
        ApiLimits(per_second=given.limits.per_second, retries=given.limits.retries),
        private=True,
        hosts=HostList(PolicyList.SOURCES, None if hosts is None else tuple(hosts)),
    )
