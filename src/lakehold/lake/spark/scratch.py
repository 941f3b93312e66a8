"""The folder for a process's temporary files: private to its user, and removed when the process is gone.

Spark leaves shuffled rows there, and does not clean up when it is killed. The folder is locked as long as its process
lives; the process that makes the next one removes those that nobody holds.
"""

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

_LOCK = "lock"


def default_parent() -> Path:
    """Return the parent of scratch folders if no data folder is known, as in tests; it is private to this user."""
    return Path(tempfile.gettempdir()) / f"lakehold-{os.getuid()}"


def make_scratch_folder(parent: Path) -> Path:
    """Make a folder that only this user can read, and remove those of processes that have ended."""
    parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if parent.stat().st_uid != os.getuid():
        raise PermissionError(f"{parent} belongs to somebody else; remove it.")
    parent.chmod(0o700)
    for folder in parent.iterdir():
        _remove_abandoned(folder)
    own_folder = Path(tempfile.mkdtemp(dir=parent))
    # It stays open, and with it locked, until this process ends.
    fcntl.flock(os.open(own_folder / _LOCK, os.O_CREAT | os.O_RDWR, 0o600), fcntl.LOCK_EX)
    return own_folder


def _remove_abandoned(folder: Path) -> None:
    # One without a lock file has just been made by somebody else.
    with suppress(OSError), (folder / _LOCK).open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
