"""The registry of connectors: one folder for each, described by its module `connector`; and their environment.

Only a worker imports the modules `source`, with `open_source`, and `destination`, with `open_destination`; `connector`
knows nothing of Spark. A new connector is one folder, and nothing else; or a package that `LAKEHOLD_CONNECTORS` names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from lakehold.catalog import network_policy
from lakehold.connectors.form_fields import ConnectionFields
from lakehold.connectors.settings import DestinationSettings, SourceSettings
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.network_policy import ALLOW_ALL, NetworkPolicy
from lakehold.kit.plugins import load_descriptors
from lakehold.kit.secret_headers import fill_secrets
from lakehold.kit.settings import Settings
from lakehold.kit.settings_schema import SettingsRecord
from lakehold.lake.volumes import Volume

if TYPE_CHECKING:
    from lakehold.connectors.destinations.delivery import DeliveryRequest, Destination
    from lakehold.connectors.sources.source import SourceConnector, StreamOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Connector:
    """The descriptor of a connector: its name in settings, its labels, and its settings schemas."""

    name: str
    label: str
    icon: str
    source: type[SourceSettings] | None = None
    source_hint: str = ""
    """What is read, for those who choose a connector."""
    source_form: ConnectionFields | None = None
    destination: type[DestinationSettings] | None = None
    destination_hint: str = ""
    """What is delivered, for those who choose one."""
    destination_form: ConnectionFields | None = None


@dataclass(frozen=True, slots=True)
class ConnectorEnvironment:
    """The environment of one connector: settings, secrets and volume. Secrets are never printed."""

    settings: Settings
    secrets: Mapping[str, str] = field(repr=False)
    volume: Volume | None = None
    """The one that files are read from or written to."""
    policy: NetworkPolicy = ALLOW_ALL
    """The tenant's; `open_environment` loads it."""

    def need_allowed(self, settings: SettingsRecord) -> None:
        """Refuse settings that lead to a host or mail domain which the tenant's network policy does not allow."""
        self.policy.need(settings.network_targets(self.secrets))

    def need_volume(self) -> Volume:
        """Return the volume, or refuse if there is none."""
        if self.volume is None:
            hint = "Choose the volume that they are in."
            raise InvalidInputError("There is no volume for the files.", hint, field="volume")
        return self.volume

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Return headers with those values that are credentials."""
        return fill_secrets(headers, self.secrets)

    def need_secret(self, name: str) -> str:
        """Return a secret, or refuse if it is not set; empty for no name."""
        if name and name not in self.secrets:
            raise InvalidInputError(f"The source has no {name}.", f"Set the credential {name}.", field=name)
        return self.secrets.get(name, "")


def open_environment(
    ctx: RequestContext, settings: Settings, secrets: Mapping[str, str], volume: Volume | None = None
) -> ConnectorEnvironment:
    """Return the environment of a connector under the network policy that the tenant has now."""
    return ConnectorEnvironment(settings, secrets, volume, network_policy.load(ctx))


@cache
def all_connectors() -> Mapping[str, Connector]:
    """Return all connectors by name."""
    return {name: connector for name, (_, connector) in _packages().items()}


def source_records() -> dict[str, type[SourceSettings]]:
    """Return the settings of all sources by connector."""
    return {name: each.source for name, each in all_connectors().items() if each.source}


def destination_records() -> dict[str, type[DestinationSettings]]:
    """Return the settings of all destinations by connector."""
    return {name: each.destination for name, each in all_connectors().items() if each.destination}


@cache
def _packages() -> Mapping[str, tuple[str, Connector]]:
    """Return the packages of all connectors, and their descriptors, by name."""
    return load_descriptors(__file__, "connector", "LAKEHOLD_CONNECTORS", "connector")


def open_source(
    environment: ConnectorEnvironment, settings: SourceSettings, stream: StreamOptions | None = None
) -> SourceConnector:
    """Open the source that the settings describe, with the options of the stream that is to be read."""
    environment.need_allowed(settings)
    opened: SourceConnector = _module(settings.connector, "source").open_source(environment, settings, stream)
    return opened


def open_destination(
    environment: ConnectorEnvironment, settings: DestinationSettings, request: DeliveryRequest
) -> Destination:
    """Open the destination that the settings describe, for one delivery."""
    environment.need_allowed(settings)
    opened: Destination = _module(settings.to, "destination").open_destination(environment, settings, request)
    return opened


def _module(name: str, part: str) -> Any:  # noqa: ANN401 - a module
    return import_module(f"{_packages()[name][0]}.{part}")
