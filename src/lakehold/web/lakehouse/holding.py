"""What has files: volumes, and storages that are a folder. By kind: the service that keeps them, and its rights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from lakehold.directory.request_context import RequestContext
from lakehold.kit.settings import Settings
from lakehold.lake.volumes import PartialFile, Volume, VolumeEntry
from lakehold.workspaces.lakehouse import volumes
from lakehold.workspaces.marts import files, mart_kinds


class Service(Protocol):
    """Who may list, read, put and remove files."""

    def list_files(self, ctx: RequestContext, settings: Settings, uid: str, folder: str = "") -> list[VolumeEntry]:
        """What is in a folder."""

    def open_file(self, ctx: RequestContext, settings: Settings, uid: str, path: str) -> tuple[Volume, VolumeEntry]:
        """A file that is to be read."""

    def check_upload(
        self, ctx: RequestContext, settings: Settings, uid: str, path: str, *, replace: bool = False
    ) -> Volume:
        """Refuse a file before it is sent."""

    def store_upload(
        self, ctx: RequestContext, settings: Settings, uid: str, path: str, rough: PartialFile, *, replace: bool = False
    ) -> None:
        """Keep a file."""

    def delete_file(self, ctx: RequestContext, settings: Settings, uid: str, path: str) -> None:
        """Take a file away."""


@dataclass(frozen=True, slots=True)
class Holding:
    """A kind that has files."""

    service: Service
    read: str
    write: str
    remove: str


_VOLUME = Holding(volumes, "read", "write", "delete_file")
_BY_KIND: Mapping[str, Holding] = {mart_kinds.STORAGE_KIND: Holding(files, "use", "edit", "edit")}


def of(ctx: RequestContext, uid: str) -> Holding:
    """How its files are kept. What has none is refused by the service of volumes."""
    ctx.need_visible(uid)
    return _BY_KIND.get(ctx.session.read_view(lambda view: view.kind(view.resource(uid))), _VOLUME)
