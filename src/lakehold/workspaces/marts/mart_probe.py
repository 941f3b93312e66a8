"""Probes of storages, connectors and destinations: who may run them, and the tables, streams, fields and rows found.

Access is checked in a transaction (`prepare_storage_probe`), and the probe runs outside of one (`probe_storage`),
because it takes as long as the other system does. A lakehouse is queried with SQL; everything else by the worker.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from lakehold.access import Draft
from lakehold.catalog import credentials
from lakehold.catalog.resource_view import VisibleRefs, make_ref
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.kit.settings_schema import InvalidSettingError
from lakehold.lake import readable_tables, row_formats
from lakehold.lake.row_formats import quote_identifier
from lakehold.runs import worker_client
from lakehold.runs.sql_definitions import EdgeEnds, SqlDefinition
from lakehold.runs.worker_client import ReadPurpose
from lakehold.workspaces.graph import need_connection, need_kind
from lakehold.workspaces.marts import storages
from lakehold.workspaces.marts.settings import (
    DATA_MART,
    DATA_MART_KIND,
    DESTINATION_KIND,
    STORAGE,
    STORAGE_KIND,
    DefinitionType,
    LakeStorageSettings,
    MartSettings,
    StorageSettings,
    StorageType,
)
from lakehold.workspaces.marts.storages import LakeTables


@dataclass(frozen=True, slots=True)
class ProbeTarget:
    """A storage, destination or data mart with a connector to probe: an existing one, as it is or with other settings,
    or one that would be created.
    """

    uid: str = ""
    project: str = ""
    """The project in which it would be created."""
    settings: Mapping[str, object] | None = None
    """Settings to use instead of the saved ones."""
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Instead of those that are kept, or beside them."""
    by: str = ""
    """How a storage is sampled: sql, table or pattern; without one, its tables are listed."""
    text: str = ""
    """The definition to sample, or the stream of a connector; without a stream, the streams are listed."""
    search: str | None = None
    """A part of the name by which listed tables are filtered: a lakehouse lists the first matches; empty for all."""

    @property
    def sampled(self) -> str:
        """The resource whose rows are shown, or in which it would be created; empty if none are."""
        return (self.uid or self.project) if self.by or self.text else ""


def need_storage_probe(ctx: RequestContext, target: ProbeTarget) -> StorageSettings:
    """Return the settings to probe.

    Users of a storage may probe it as it is; other settings need the right to edit it or to create one. It shows data,
    so members who view as somebody else are refused.
    """
    readable_tables.refuse_impersonation(ctx)
    if target.uid:
        need_kind(ctx, target.uid, "use" if target.settings is None else "edit", (STORAGE_KIND,))
    else:
        if not target.project or target.settings is None:
            raise InvalidInputError(
                "No storage is named.", "Name a storage; or a project, and the settings of one there."
            )
        ctx.need_visible(target.project)
        ctx.need_draft(Draft(STORAGE_KIND, {"project": target.project}))
    if target.settings is None:
        return storages.storage_settings(ctx, target.uid)
    return STORAGE.parse(target.settings)


def need_feed_probe(ctx: RequestContext, target: ProbeTarget) -> None:
    """Refuse unless the caller may edit the data mart, or create one there. It shows data, as a storage's does."""
    readable_tables.refuse_impersonation(ctx)
    if target.uid:
        need_kind(ctx, target.uid, "edit", (DATA_MART_KIND,))
    else:
        ctx.need_visible(target.project)
        ctx.need("create_data_mart", target.project)


def need_destination_check(ctx: RequestContext, target: ProbeTarget) -> None:
    """Refuse unless the caller may edit the destination, or create one in the project."""
    draft = Draft(DESTINATION_KIND, {"project": target.project})
    need_connection(ctx, target.uid, target.project, draft)


def probe_secrets(ctx: RequestContext, target: ProbeTarget) -> dict[str, str]:
    """Return the secrets of the connection, which must never be part of a response."""
    if not target.uid:
        return dict(target.secrets)
    stored = (
        credentials.load_for_use(ctx, target.uid)
        if target.settings is None
        else credentials.load_for_test(ctx, target.uid, target.settings)
    )
    return {**stored, **target.secrets}


def probe_feed(platform: Platform, caller: Caller, target: ProbeTarget, query: str = "") -> dict[str, Any]:
    """Probe the connector through the worker, outside of the transaction in which access was checked.

    By the id of the query it can be stopped.
    """
    return worker_client.probe(platform, caller, "marts.feed", asdict(target), target.sampled, uid=query)


SAMPLE_ROWS = 20
_PROBED_TYPES = (DefinitionType.SQL, DefinitionType.TABLE, DefinitionType.PATTERN)


@dataclass(frozen=True, slots=True)
class PreparedProbe:
    """A probe that the caller is allowed to run."""

    caller: Caller
    target: ProbeTarget
    where: StorageType
    lake: LakeTables | None = None


@dataclass(frozen=True, slots=True)
class StorageProbeResult:
    """The tables of a storage, or the fields and first rows of a definition."""

    tables: Sequence[Mapping[str, Any]] = ()
    """Each with its name, its id if it is a table of a lakehouse, and the keys that are known."""
    fields: Sequence[Mapping[str, str]] = ()
    rows: Sequence[Sequence[Any]] = ()
    notes: Sequence[str] = ()
    reads: Sequence[str] = field(default=())
    """The tables of the lakehouse that it reads, by their ids."""


def prepare_storage_probe(ctx: RequestContext, target: ProbeTarget) -> PreparedProbe:
    """Refuse unless the caller may probe the storage."""
    storage = need_storage_probe(ctx, target)
    if target.by and target.by not in _PROBED_TYPES:
        raise InvalidInputError(
            f"A definition by {quote(target.by)} cannot be sampled in a storage.", f"Use {', '.join(_PROBED_TYPES)}."
        )
    lake = None
    if isinstance(storage, LakeStorageSettings):
        # Those that match the search for a list, all of them for a pattern.
        lake = storages.lake_tables(ctx, storage, None if target.by else target.search)
    return PreparedProbe(ctx.caller, target, StorageType(storage.kind), lake)


def probe_storage(platform: Platform, prepared: PreparedProbe, query: str = "") -> StorageProbeResult:
    """Run the probe as the caller; by the id of the query it can be stopped."""
    if prepared.lake is not None:
        return _probe_lakehouse(platform, prepared, prepared.lake, query)
    if prepared.where is StorageType.FILES and not prepared.target.uid:
        return StorageProbeResult(notes=["It gets a folder of its own when it is created. Upload files there."])
    return StorageProbeResult(
        **worker_client.probe(
            platform, prepared.caller, "marts.storage", asdict(prepared.target), prepared.target.sampled, uid=query
        )
    )


def matching_tables(pattern: str, tables: Sequence[str]) -> list[str]:
    """Return the tables that a pattern matches."""
    found = sorted(name for name in tables if fnmatchcase(name, pattern))
    if not found:
        raise NotFoundError(f"Nothing matches {quote(pattern)}.", "Use * for any characters.")
    return found


def pattern_notes(found: Sequence[str]) -> list[str]:
    """Return a note about a pattern of which the first table is displayed."""
    if len(found) == 1:
        return []
    some = ", ".join(found[:10])
    more = " and more" if len(found) > 10 else ""  # noqa: PLR2004 - as many as can be read at a glance
    return [f"{len(found):,} tables fit: {some}{more}. The first of them is shown."]


def definition_errors(definition: MartSettings, fields: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return an error for each setting of a definition that names a field that does not exist."""
    names = [each["name"] for each in fields]
    there = f" There are: {', '.join(names[:20])}." if names else ""
    found: dict[str, str] = {}
    hidden = {column.name for column in definition.columns if column.hidden}
    for name in definition.keys:
        if name not in names or name in hidden:
            found["keys"] = f"There is no stored field {quote(name)}.{there}"
    named = [("cursor", definition.cursor), *(("columns", column.name) for column in definition.columns)]
    for setting, name in named:
        if name and name not in names:
            found[setting] = f"There is no field {quote(name)}.{there}"
    if names and hidden.issuperset(names):
        found["columns"] = "All fields are hidden. Show at least one."
    return found


def _probe_lakehouse(platform: Platform, prepared: PreparedProbe, lake: LakeTables, query: str) -> StorageProbeResult:
    if not prepared.target.by:
        return StorageProbeResult(tables=[{"name": each.name, "uid": each.uid, "keys": []} for each in lake.tables])
    text, notes = _probe_sql(prepared.target, [each.name for each in lake.tables])
    purpose = ReadPurpose("preview", prepared.target.sampled)
    meaning = worker_client.describe_query(
        platform, prepared.caller, purpose=purpose, uid=query, workspace=lake.lakehouse, text=text
    )
    sample = worker_client.run_query(
        platform, prepared.caller, purpose=purpose, uid=query, workspace=lake.lakehouse, text=text, rows=SAMPLE_ROWS
    )
    with sample as found:
        some = [[row_formats.to_json_value(value) for value in row] for row in found.rows()]
    return StorageProbeResult(fields=meaning.fields, rows=some, notes=notes, reads=meaning.reads)


def _probe_sql(target: ProbeTarget, tables: Sequence[str]) -> tuple[str, list[str]]:
    """Return the query of a probe, and notes about it."""
    match DefinitionType(target.by):
        case DefinitionType.SQL:
            return target.text, []
        case DefinitionType.TABLE:
            # Names are compared as SQL compares them, without case.
            if target.text.casefold() not in {name.casefold() for name in tables}:
                raise NotFoundError(f"There is no table {quote(target.text)}.", "Choose one of the storage's tables.")
            return select_all(target.text), []
        case _:
            found = matching_tables(target.text, tables)
            return select_all(found[0]), pattern_notes(found)


def _find_sql(ctx: RequestContext, settings: Mapping[str, object], ends: EdgeEnds) -> SqlDefinition | None:
    """Return the query of a data mart on a lakehouse, for users of its storage. Its runs ask other storages."""
    definition, storage = DATA_MART.parse(settings), next(iter(ends("storage") or ()), "")
    if definition.by is not DefinitionType.SQL or ctx.view.ids.get(storage) is None:
        return None
    if not ctx.session.check(ctx.principal, "use", storage):
        return None
    try:
        found = storages.storage_settings(ctx, storage)
    except InvalidSettingError:
        return None
    if not isinstance(found, LakeStorageSettings) or not VisibleRefs(ctx).sees(found.lakehouse):
        return None
    return SqlDefinition(make_ref(ctx.view, found.lakehouse).name, definition.text)


SQL_DEFINITIONS = {"data_mart": _find_sql}


def select_all(table: str) -> str:
    """Return the query of all rows of a table of a lakehouse."""
    layer, _, name = table.partition(".")
    quoted = ".".join(quote_identifier(part) for part in (layer, name) if part)
    return f"SELECT * FROM {quoted}"  # noqa: S608 - quoted
