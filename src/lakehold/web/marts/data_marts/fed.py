"""What the form of a data mart says that a connector of its own feeds, and what is kept of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from starlette.datastructures import FormData

from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import EdgeTargets
from lakehold.web.lakehouse.forms import parts
from lakehold.web.lakehouse.sources import apis, connection
from lakehold.web.lakehouse.sources.connection import Connection
from lakehold.workspaces.marts.definitions import CONNECTORS, REFRESH_MODES, DefinitionType

KINDS = tuple(each for each in connection.CONNECTORS if each[0] in CONNECTORS)
_OTHERWISE = (DefinitionType.SQL.value, DefinitionType.TABLE.value, DefinitionType.PATTERN.value, "reads")
"""What a definition of another sort says."""


@dataclass(frozen=True, slots=True)
class Fed:
    """The form as it is filled in: how its source is reached, and what is drawn from it."""

    reach: Connection = field(default_factory=Connection)
    storage: str = ""
    stream: str = ""
    mode: str = "full"
    keys: str = ""
    cursor: str = ""

    @property
    def connector(self) -> str:
        """What it reads from."""
        return self.reach.connector

    @property
    def name(self) -> str:
        """What it is to be called."""
        return self.reach.name

    @property
    def description(self) -> str:
        """What it is for."""
        return self.reach.description

    @property
    def version(self) -> str:
        """Which state of it was shown."""
        return self.reach.version

    @property
    def credential(self) -> str:
        """What the secret is called that it needs; empty if it needs none."""
        return self.reach.credential

    @property
    def endpoints(self) -> Sequence[apis.Endpoint]:
        """Those of an API."""
        return self.reach.endpoints

    def text(self, name: str) -> str:
        """What a field of the connection says."""
        return self.reach.text(name)

    def edges(self) -> EdgeTargets:
        """The storage that it belongs to, if that is said."""
        return {"storage": self.storage} if self.storage else {}

    def settings(self, before: Mapping[str, object] | None = None) -> dict[str, object]:
        """What is kept of it. What the form does not ask for stays as it was."""
        was = {name: value for name, value in (before or {}).items() if name not in _OTHERWISE}
        told: dict[str, object] = {"by": DefinitionType.CONNECTOR.value, "stream": self.stream, "mode": self.mode}
        told |= {"keys": parts(self.keys), "cursor": self.cursor if self.mode == "incremental" else ""}
        return {**self.reach.settings(was), **told}

    def errors(self, *, has_secret: bool, is_new: bool) -> dict[str, str]:
        """What is wrong with it, by field. One that is there may have a storage that its editor does not see."""
        found = self.reach.errors_of_reach(has_secret=has_secret)
        if is_new and not self.storage:
            found["storage"] = "Choose the storage that it belongs to."
        if self.mode in {"merge", "mirror"} and not parts(self.keys):
            found["keys"] = "Name the fields by which a row is known."
        if self.mode == "incremental" and not self.cursor:
            found["cursor"] = "Name the field by which new rows are told."
        return found


def sent(form: FormData) -> Fed:
    """What came in. Of an API with one endpoint that is the stream."""

    def text(name: str) -> str:
        return str(form.get(name, "")).strip()

    reach, mode = connection.sent(form), text("mode")
    only = reach.endpoints[0]["name"] if len(reach.endpoints) == 1 else ""
    return Fed(
        reach,
        text("storage"),
        text("stream") or only,
        mode if mode in REFRESH_MODES else "full",
        text("keys"),
        text("cursor"),
    )


def blank(connector: str, storage: str) -> Fed:
    """A form that nobody has filled in."""
    return Fed(connection.blank(connector if connector in CONNECTORS else ""), storage)


def present(found: ResourceView, connector: str = "") -> Fed:
    """What a data mart says now. One that says something else so far can be given a connector."""
    told = found.settings or {}
    keys, mode = told.get("keys"), str(told.get("mode", ""))
    return Fed(
        connection.present(found, connector if connector in CONNECTORS else ""),
        next((end.uid for end in found.edges.get("storage", ())), ""),
        str(told.get("stream", "")),
        mode if mode in REFRESH_MODES else "full",
        ", ".join(map(str, keys)) if isinstance(keys, list) else "",
        str(told.get("cursor", "")),
    )
