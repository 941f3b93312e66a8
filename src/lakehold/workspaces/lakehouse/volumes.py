"""Volumes: who may do what with their files."""

from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import at_field
from lakehold.kit.settings import Settings
from lakehold.lake import readable_tables
from lakehold.lake.volumes import Volume
from lakehold.workspaces.graph import need_kind
from lakehold.workspaces.volume_files import FileService

VOLUME_KIND = "lakehouse.volume"


def open_volume(ctx: RequestContext, settings: Settings, uid: str, action: str) -> Volume:
    """Return the volume if the caller may do this with its files."""
    with at_field("volume"):
        need_kind(ctx, uid, action, (VOLUME_KIND,), refusal="A {} has no files.", hint="Choose a volume.")
    return Volume(settings, readable_tables.identifier_of(ctx, uid))


FILES = FileService(read="read", write="write", remove="delete_file", open_volume=open_volume)
FILE_SERVICES = {VOLUME_KIND: FILES}
