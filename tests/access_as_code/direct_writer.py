"""Applies a plan directly to the store, without access checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lakehold.access.engine import AccessEngine
from lakehold.access.facts.records import Change
from lakehold.access.session import AccessSession
from lakehold.access_as_code import (
    ChangePlan,
    DesiredState,
    EntryMetadata,
    apply_plan,
    export_tenant,
    make_plan,
    parse_files,
)
from lakehold.kit.clock import Moment


class DirectWriter:
    """A writer that checks no rights and records nothing."""

    def __init__(self, session: AccessSession) -> None:
        self.session = session

    def create(
        self,
        kind: str,
        name: str,
        *,
        uid: str | None = None,
        edges: Mapping[str, str | Sequence[str]] | None = None,
        attributes: Mapping[str, str | bool] | None = None,
    ) -> str:
        return self.session.store.create(kind, name, uid=uid, edges=edges, attributes=attributes)

    def make(self, change: Change, *, since: Moment | None = None, until: Moment | None = None) -> None:
        self.session.store.apply(change, since=since, until=until)

    def rename(self, uid: str, name: str) -> None:
        self.session.store.rename(uid, name)

    def delete(self, uid: str) -> None:
        self.session.store.delete(uid)


def export_as_owner(
    access: AccessEngine, tenant: str, metadata: Mapping[str, EntryMetadata] | None = None
) -> dict[str, str]:
    with access.read(tenant) as session:
        return export_tenant(session, metadata)


def plan_files(access: AccessEngine, tenant: str, files: Mapping[str, str] | DesiredState) -> ChangePlan:
    declared = files if isinstance(files, DesiredState) else parse_files(files)
    with access.read(tenant) as session:
        return make_plan(session, declared)


def apply_files(access: AccessEngine, tenant: str, files: Mapping[str, str]) -> ChangePlan:
    """Plan the files, and apply the plan."""
    declared = parse_files(files)
    made = plan_files(access, tenant, declared)
    with access.write(tenant) as session:
        apply_plan(DirectWriter(session), made, declared)
    return made
