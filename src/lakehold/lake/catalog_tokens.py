"""Short-lived tokens with which a user's Spark session authenticates to the Iceberg REST catalog, and the tables loaded
with them.

Only the catalog in the worker accepts a token. It names the caller; what the caller may read is decided again each time
that it is presented. Spark asks the catalog for every table that a query names, so the tables loaded with a token are
all that the query reads.

An interactive query also has a temporary folder for its system tables, filled with what its caller may know and removed
when it ends. Others have none: what is stored as a table must come from tables that have access levels.
"""

import base64
import binascii
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from lakehold.directory.caller import Caller
from lakehold.kit.clock import SECOND, Moment
from lakehold.kit.errors import NotFoundError
from lakehold.kit.keys import KeyRing

_PREFIX = "lht_"


def issue_token(keys: KeyRing, caller: Caller, at: Moment, seconds: int) -> str:
    """Return a token for the caller that is valid for so many seconds."""
    payload = json.dumps({"tenant": caller.tenant, "until": at + seconds * SECOND, "caller": caller.to_stored()})
    body = base64.urlsafe_b64encode(payload.encode()).decode()
    return f"{_PREFIX}{body}.{keys.seal(_signed_text(body))}"


def verify_token(keys: KeyRing, token: str, at: Moment) -> Caller | None:
    """Return the caller of a token; None if the token is invalid or has expired."""
    body, _, signature = token.removeprefix(_PREFIX).partition(".")
    if not token.startswith(_PREFIX) or not keys.is_sealed(_signed_text(body), signature):
        return None
    try:
        payload = json.loads(base64.urlsafe_b64decode(body))
    except (binascii.Error, ValueError):
        return None
    if payload["until"] < at:
        return None
    return Caller.from_stored(payload["tenant"], payload["caller"], address="worker")


def _signed_text(body: str) -> str:
    return f"ticket {body}"


_loaded: dict[str, set[str]] = {}


@contextmanager
def track_loaded_tables(token: str, found: set[str] | None = None) -> Iterator[set[str]]:
    """Collect the ids of the tables that are loaded with this token, as they are loaded; in a given set if there is."""
    _loaded[token] = set() if found is None else found
    try:
        yield _loaded[token]
    finally:
        del _loaded[token]


def record_loaded_table(token: str, uid: str) -> None:
    """Record that a table was loaded with a token."""
    if token in _loaded:
        _loaded[token].add(uid)


SYSTEM = "system"
"""The namespace of these tables in SQL."""

_folders: dict[str, Path] = {}


@contextmanager
def open_system_folder(token: str, data: Path) -> Iterator[None]:
    """Give the query with this token a folder for system tables."""
    folder = data.absolute() / SYSTEM / uuid4().hex
    _folders[token] = folder
    try:
        yield
    finally:
        del _folders[token]
        shutil.rmtree(folder, ignore_errors=True)


def system_folder(token: str) -> Path:
    """Return the folder for system tables of the query with this token."""
    found = _folders.get(token)
    if found is None:
        raise NotFoundError(f"There is no table of {SYSTEM} here.", "Read it in a query; it cannot be stored.")
    found.mkdir(parents=True, exist_ok=True, mode=0o700)
    return found
