"""What the form of a storage says, and what is kept of it: settings, and a secret apart from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.datastructures import FormData

from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import EdgeTargets
from lakehold.kit.errors import InvalidInputError, LakeholdError, NotFoundError
from lakehold.web.lakehouse.forms import parts
from lakehold.web.lakehouse.sources import databases
from lakehold.web.lakehouse.sources.troubles import is_no_worker
from lakehold.workspaces.marts.definitions import StorageType

KINDS = (
    (
        StorageType.LAKE.value,
        "Lakehouse",
        "Tables of a lakehouse here. Everybody reads them with their own levels.",
        "waves",
    ),
    (StorageType.DATABASE.value, "Database", "PostgreSQL, or another database with a driver.", "database"),
    (StorageType.FILES.value, "Files", "CSV, Excel, JSON or Parquet in a folder of its own.", "folder"),
)
_TEXTS = {
    StorageType.LAKE.value: ("lakehouse",),
    StorageType.DATABASE.value: ("product", "host", "port", "database", "address", "driver", "user", "schemas"),
    StorageType.FILES.value: ("folder",),
}
_IN = "does not let us in"


@dataclass(frozen=True, slots=True)
class Filled:
    """The form as it is filled in."""

    kind: str = ""
    name: str = ""
    description: str = ""
    version: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """What a field says; empty if nothing."""
        return self.texts.get(name, "")

    @property
    def credential(self) -> str:
        """What the secret is called that it needs; empty if it needs none."""
        return "password" if self.kind == StorageType.DATABASE else ""

    @staticmethod
    def edges() -> EdgeTargets:
        """It lies in its project, and leads nowhere else."""
        return {}

    def settings(self, before: Mapping[str, object] | None = None) -> dict[str, object]:
        """What is kept of it. What the form does not ask for stays as it was."""
        match self.kind:
            case "lake":
                told: dict[str, object] = {"lakehouse": self.text("lakehouse")}
            case "database":
                told = {"address": databases.address(self.texts), "user": self.text("user")}
                told["schemas"] = parts(self.text("schemas"))
                told |= {"driver": self.text("driver")} if self.text("driver") else {}
            case _:
                told = {"folder": self.text("folder").strip("/")}
        return {**(before or {}), "kind": self.kind, **told}

    def errors(self) -> dict[str, str]:
        """What is wrong with it, by field."""
        found: dict[str, str] = {} if self.name else {"name": "Give it a name."}
        if self.kind == StorageType.LAKE and not self.text("lakehouse"):
            found["lakehouse"] = "Choose the lakehouse whose tables it has."
        if self.kind == StorageType.DATABASE:
            found |= databases.errors(self.texts)
        return found


def sent(form: FormData) -> Filled:
    """What came in."""

    def text(name: str) -> str:
        return str(form.get(name, "")).strip()

    kind = text("kind")
    return Filled(
        kind if kind in _TEXTS else "",
        text("name"),
        text("description"),
        text("version"),
        {name: text(name) for name in _TEXTS.get(kind, ())},
    )


def blank(kind: str) -> Filled:
    """A form that nobody has filled in."""
    return Filled(kind if kind in _TEXTS else "", texts=databases.parts("") if kind == StorageType.DATABASE else {})


def present(found: ResourceView, kind: str = "") -> Filled:
    """What a storage says now. One that says nothing yet can be given a kind."""
    told = found.settings or {}
    chosen = str(told.get("kind", "")) or kind
    known = chosen if chosen in _TEXTS else ""
    texts = {name: _said(told.get(name, "")) for name in _TEXTS.get(known, ())}
    if known == StorageType.DATABASE:
        texts |= databases.parts(str(told.get("address", "")))
    return Filled(known, found.name, found.description, str(found.version), texts)


def trouble_at(error: LakeholdError, filled: Filled) -> str:
    """The field that an error of a look is about; empty if it is about none."""
    if is_no_worker(error):
        return ""
    if filled.kind == StorageType.LAKE:
        return "lakehouse"
    if filled.kind == StorageType.FILES:
        return "folder"
    if _IN in error.message or (isinstance(error, InvalidInputError) and "password" in error.message):
        return "secret"
    if filled.text("product") == databases.OTHER:
        return "driver" if "driver" in error.message else "address"
    return "database" if isinstance(error, NotFoundError) else "host"


def _said(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
