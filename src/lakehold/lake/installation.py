"""The installation that a warehouse or a volumes folder belongs to, which a marker file at its root names.

Two installations that shared such a place would delete each other's files: each takes what only the other's catalog
names for orphans. A copy has the id of its original, so the marker also says where the installation is.
"""

import re
from collections.abc import Callable

import pyarrow.fs

from lakehold.kit.errors import ConflictError, UnavailableError
from lakehold.lake import warehouse
from lakehold.lake.table_metadata import read_file

MARKER = ".lakehold-installation"
_TENANT_FOLDER = re.compile(r"t[0-9]+")
_own: dict[str, bytes] = {}
"""The marks of the places that this process has found to be its own."""


def need_own_place(root: str, mark: bytes, is_known: Callable[[str], bool]) -> None:
    """Refuse the place of another installation. One without a marker is claimed if it is known, or has no tenants."""
    found = _read_marker(root)
    if not found:
        if _has_tenants(root) and not is_known(root):
            raise _foreign(root, "has files of another installation")
        claim_place(root, mark)
    elif found != mark:
        raise _foreign(root, f"belongs to the installation at {_home(found)!r}")
    _own[root] = mark


def need_still_own(root: str) -> None:
    """Refuse a place that another installation has claimed since this process found it to be its own."""
    if root in _own:
        need_own_place(root, _own[root], bool)


def claim_place(root: str, mark: bytes) -> None:
    """Write the marker of this installation, also over that of another one."""
    try:
        system, path = pyarrow.fs.FileSystem.from_uri(_marker(root))
        if isinstance(system, pyarrow.fs.LocalFileSystem):
            system.create_dir(path.removesuffix(f"/{MARKER}"))
        with system.open_output_stream(path) as file:
            file.write(mark)
    except (OSError, ValueError) as error:
        raise _unreachable(root) from error


def _read_marker(root: str) -> bytes:
    try:
        return read_file(_marker(root))
    except FileNotFoundError:
        return b""
    except (OSError, ValueError) as error:
        raise _unreachable(root) from error


def _marker(root: str) -> str:
    return f"{warehouse.normalise(root).rstrip('/')}/{MARKER}"


def _has_tenants(root: str) -> bool:
    system, path = pyarrow.fs.FileSystem.from_uri(_marker(root))
    found = system.get_file_info(pyarrow.fs.FileSelector(path.removesuffix(f"/{MARKER}"), allow_not_found=True))
    return any(_TENANT_FOLDER.fullmatch(each.base_name) for each in found)


def _home(mark: bytes) -> str:
    return mark.decode(errors="replace").strip().rpartition("\n")[2][:200]


def _foreign(root: str, what: str) -> ConflictError:
    return ConflictError(
        f"{root!r} {what}.",
        "Nothing was changed there: two installations cannot share it. Set LAKEHOLD_WAREHOUSE and LAKEHOLD_VOLUMES to"
        " places of this installation's own. If it is the same one, moved or restored, or the other is gone for good,"
        " stop it and run `lakehold relocate`.",
        code="foreign_location",
    )


def _unreachable(root: str) -> UnavailableError:
    return UnavailableError(
        f"{root!r} cannot be read or written.", "Check LAKEHOLD_WAREHOUSE, LAKEHOLD_VOLUMES and the rights on them."
    )
