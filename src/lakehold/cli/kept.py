"""Where `lakehold login` keeps the server's address and the token: a file for its owner's eyes alone."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from lakehold.kit.errors import InvalidInputError

_OWNER_ONLY = 0o600
DEFAULT_URL = "http://127.0.0.1:8400"


@dataclass(frozen=True, slots=True)
class Login:
    """A server, and who one is there."""

    url: str
    token: str


def file() -> Path:
    """Where it lies."""
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "lakehold" / "login.json"


def load() -> Login | None:
    """What was kept, if anything."""
    where = file()
    try:
        said = json.loads(where.read_text(encoding="utf-8"))
        mode = where.stat().st_mode
    except FileNotFoundError:
        return None
    except ValueError:
        raise InvalidInputError(f"{where.name} cannot be read.", "Run `lakehold login` again.") from None
    if mode & 0o077:
        raise InvalidInputError(f"Others can read the token in {where.name}.", f"Close it: chmod 600 {where}.")
    return Login(str(said["url"]), str(said["token"]))


def store(login: Login) -> Path:
    """Keep it in place of what was kept."""
    where = file()
    where.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = where.with_name(f"{where.name}.{os.getpid()}")
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _OWNER_ONLY)
    with os.fdopen(handle, "w", encoding="utf-8") as out:
        json.dump(asdict(login), out)
    return fresh.replace(where)


def forget() -> bool:
    """Keep it no longer; whether there was anything."""
    there = file().exists()
    file().unlink(missing_ok=True)
    return there


def chosen(url: str = "") -> Login:
    """The server to talk to: by option, by the environment, by what was kept, or the one of this machine."""
    known = None if os.environ.get("LAKEHOLD_TOKEN") else load()
    where = url or os.environ.get("LAKEHOLD_URL") or (known.url if known else DEFAULT_URL)
    # A token goes only where it was meant to go.
    kept = known.token if known and known.url == where.rstrip("/") else ""
    return Login(where.rstrip("/"), os.environ.get("LAKEHOLD_TOKEN") or kept)
