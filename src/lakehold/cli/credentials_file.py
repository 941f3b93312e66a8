"""Stores the server's address and the token of `lakehold login` in a file that only its owner can read."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from lakehold.kit.errors import InvalidInputError

_OWNER_ONLY = 0o600
DEFAULT_URL = "http://127.0.0.1:8400"


@dataclass(frozen=True, slots=True)
class Login:
    """The address of a server, and an API token."""

    url: str
    token: str


def credentials_path() -> Path:
    """Return the path of the file."""
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "lakehold" / "login.json"


def load() -> Login | None:
    """Load the stored login, if there is one."""
    path = credentials_path()
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        mode = path.stat().st_mode
    except FileNotFoundError:
        return None
    except ValueError:
        raise InvalidInputError(f"{path.name} cannot be read.", "Run `lakehold login` again.") from None
    if mode & 0o077:
        raise InvalidInputError(f"Others can read the token in {path.name}.", f"Close it: chmod 600 {path}.")
    return Login(str(stored["url"]), str(stored["token"]))


def store(login: Login) -> Path:
    """Store a login in place of the previous one."""
    path = credentials_path()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _OWNER_ONLY)
    with os.fdopen(handle, "w", encoding="utf-8") as out:
        json.dump(asdict(login), out)
    return fresh.replace(path)


def delete() -> bool:
    """Delete the stored login, and return whether there was one."""
    there = credentials_path().exists()
    credentials_path().unlink(missing_ok=True)
    return there


def resolve_login(url: str = "") -> Login:
    """Return the login to use: by option, environment, stored file, or the server of this machine."""
    stored_login = None if os.environ.get("LAKEHOLD_TOKEN") else load()
    server_url = url or os.environ.get("LAKEHOLD_URL") or (stored_login.url if stored_login else DEFAULT_URL)
    # A token goes only where it was meant to go.
    stored_token = stored_login.token if stored_login and stored_login.url == server_url.rstrip("/") else ""
    return Login(server_url.rstrip("/"), os.environ.get("LAKEHOLD_TOKEN") or stored_token)
