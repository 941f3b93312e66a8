"""The registry of connectors: one folder each, which its module `connector` describes; and what one is opened with.

A folder has `settings` (no Spark), and `source` with `open_source` or `destination` with `open_destination`, which only
a worker imports. A new connector is one folder, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, reduce
from importlib import import_module
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from lakehold.connectors.destinations.settings import DestinationSettings
from lakehold.connectors.form_fields import ConnectionFields
from lakehold.connectors.sources.settings import SourceSettings
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.secret_headers import fill_secrets
from lakehold.kit.settings import Settings
from lakehold.lake.volumes import Volume

if TYPE_CHECKING:
    from lakehold.connectors.destinations.delivery import DeliveryRequest, Destination
    from lakehold.connectors.sources.source import SourceConnector, StreamOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Connector:
    """What the platform knows of a connector: its name in settings, how it is shown, and its settings."""

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
    """The surroundings of one connector. Its secrets are never printed."""

    settings: Settings
    secrets: Mapping[str, str] = field(repr=False)
    volume: Volume | None = None
    """The one that files are read from or written to."""

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


@cache
def all_connectors() -> Mapping[str, Connector]:
    """Return all connectors by name."""
    folders = sorted(file.parent.name for file in Path(__file__).parent.glob("*/connector.py"))
    found = [import_module(f"lakehold.connectors.{folder}.connector") for folder in folders]
    return {module.CONNECTOR.name: module.CONNECTOR for module in found}


def source_union() -> Any:  # noqa: ANN401 - a union of types
    """Return the settings of all sources, told apart by `connector`."""
    records = [connector.source for connector in all_connectors().values() if connector.source]
    return Annotated[reduce(or_, records), Field(discriminator="connector")]


def open_source(
    environment: ConnectorEnvironment, settings: SourceSettings, stream: StreamOptions | None = None
) -> SourceConnector:
    """Open the source that the settings describe, with the options of the stream that is to be read."""
    opened: SourceConnector = _module(settings.connector, "source").open_source(environment, settings, stream)
    return opened


def open_destination(
    environment: ConnectorEnvironment, settings: DestinationSettings, request: DeliveryRequest
) -> Destination:
    """Open the destination that the settings describe, for one delivery."""
    opened: Destination = _module(settings.to, "destination").open_destination(environment, settings, request)
    return opened


def _module(name: str, part: str) -> Any:  # noqa: ANN401 - a module
    return import_module(f"lakehold.connectors.{name}.{part}")
