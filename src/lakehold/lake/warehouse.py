"""The warehouse of an installation: which locations are inside it, and which locations a table's metadata names.

Iceberg keeps absolute locations. A copied data folder therefore names the files of its original: whatever is written or
deleted there would be the original's. So nothing outside its own warehouse is touched; `relocation` makes it its own.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlsplit

from lakehold.kit.errors import ConflictError
from lakehold.lake.table_metadata import read_metadata_file

LOCATION_NAMES = frozenset(
    {
        *("location", "manifest-list", "metadata-file", "statistics-path"),
        *("write.data.path", "write.metadata.path", "write.folder-storage.path"),
    }
)
"""The fields and properties of a metadata file that are locations."""
_SAME_SCHEMES = {"s3a": "s3", "s3n": "s3", "abfss": "abfs", "wasbs": "wasb"}
_TABLE_FOLDER = re.compile(r"(.*)/t[0-9]+/r[0-9]+/metadata/[^/]+")


def is_inside(location: str, folder: str) -> bool:
    """Return whether a file or folder lies in another one, or is it. Local paths are compared without their links."""
    here, above = normalise(location), normalise(folder)
    return here == above or here.startswith(f"{above.rstrip('/')}/")


def normalise(location: str) -> str:
    """Return a location in one spelling: a local path without links, or a URI."""
    parts = urlsplit(location)
    if parts.scheme in {"", "file"}:
        path = location.removeprefix("file:")
        return os.path.realpath(f"/{path.lstrip('/')}" if path.startswith("/") else path)
    scheme = _SAME_SCHEMES.get(parts.scheme, parts.scheme)
    # Steps upward would leave the folder that the text begins with.
    return f"{scheme}://{parts.netloc}{os.path.normpath(parts.path or '/')}"


def need_inside(folder: str, locations: Iterable[str]) -> None:
    """Refuse locations outside the warehouse, and say how to relocate."""
    outside = next((each for each in locations if not is_inside(each, folder)), None)
    if outside is not None:
        raise ConflictError(
            f"Files of a table are at {outside[:200]!r}, outside the warehouse {folder!r} of this installation.",
            "Nothing was changed there. If this is a copy, or was moved, stop it and run `lakehold relocate`;"
            " else correct LAKEHOLD_DATA or LAKEHOLD_WAREHOUSE.",
            code="foreign_location",
        )


def warehouse_of(metadata_location: str) -> str | None:
    """Return the warehouse that the metadata file of a table lies in; None if it is none of Lakehold's."""
    found = _TABLE_FOLDER.fullmatch(metadata_location)
    return found[1] if found else None


def named_locations(metadata_location: str) -> Iterator[str]:
    """Yield the locations that a metadata file names, and its own."""
    yield metadata_location
    yield from _locations(json.loads(read_metadata_file(metadata_location)))


def _locations(content: Any) -> Iterator[str]:  # noqa: ANN401 - a part of a JSON document
    if isinstance(content, list):
        for each in content:
            yield from _locations(each)
    elif isinstance(content, dict):
        for name, value in content.items():
            if isinstance(value, str):
                if name in LOCATION_NAMES:
                    yield value
            elif name not in {"schemas", "fields", "summary"}:
                yield from _locations(value)
