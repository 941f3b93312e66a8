"""The interface of the services that keep the files of resources, and the rights that they ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from lakehold.directory.request_context import RequestContext
from lakehold.kit.settings import Settings
from lakehold.lake.volumes import PartialFile, Volume, VolumeEntry


class FileService(Protocol):
    """Lists, reads, stores and removes the files of a resource, after checking the caller's rights."""

    def list_files(self, ctx: RequestContext, settings: Settings, uid: str, folder: str = "") -> list[VolumeEntry]:
        """Return the files of a folder."""

    def open_file(self, ctx: RequestContext, settings: Settings, uid: str, path: str) -> tuple[Volume, VolumeEntry]:
        """Return a file that is to be read."""

    def check_upload(
        self, ctx: RequestContext, settings: Settings, uid: str, path: str, *, replace: bool = False
    ) -> Volume:
        """Refuse a file before its content is uploaded."""

    def store_upload(
        self, ctx: RequestContext, settings: Settings, uid: str, path: str, rough: PartialFile, *, replace: bool = False
    ) -> None:
        """Store an uploaded file."""

    def delete_file(self, ctx: RequestContext, settings: Settings, uid: str, path: str) -> None:
        """Remove a file."""


@dataclass(frozen=True, slots=True)
class FileHolder:
    """The file service of a kind of resource, and the rights that it asks for."""

    service: FileService
    read: str
    write: str
    remove: str
