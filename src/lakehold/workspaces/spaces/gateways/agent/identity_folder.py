"""The folder of a gateway: a file with its keys, which only its owner reads, and where it dials."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.workspaces.spaces.gateways.key_pairs import KeyPairs

_FILE = "gateway.json"


@dataclass(frozen=True, slots=True)
class GatewayConfiguration:
    """The configuration of a registered gateway."""

    tenant: str
    gateway: str
    name: str
    address: str
    """The host and port to dial."""
    authority: str
    """The certificate of the authority that it trusts there, as PEM."""
    keys: KeyPairs = field(repr=False)
    other: KeyPairs | None = field(default=None, repr=False)
    """Keys that take the place of these, or did: whichever the platform knows is right after a crash."""

    def swap_keys(self) -> "GatewayConfiguration":
        """Return it with the other keys in use."""
        return self if self.other is None else replace(self, keys=self.other, other=self.keys)


@dataclass(frozen=True, slots=True)
class IdentityFolder:
    """The folder that `--folder` names."""

    path: Path

    @property
    def file(self) -> Path:
        """The file in it."""
        return self.path / _FILE

    def load(self) -> GatewayConfiguration:
        """Load the configuration, or refuse a folder without one and one that others can read."""
        if not self.file.exists():
            hint = "Run `lakehold gateway register` first, or name the folder that it has made."
            raise NotFoundError(f"There is no gateway in {self.path}.", hint)
        if self.file.stat().st_mode & 0o077:
            raise InvalidInputError(f"Others can read {self.file}.", f"Close it: chmod 600 {self.file}.")
        try:
            values = json.loads(self.file.read_text())
            keys, other = _keys(values.pop("keys")), values.pop("other", None)
            return GatewayConfiguration(**values, keys=keys, other=_keys(other) if other else None)
        except (ValueError, TypeError, KeyError) as error:
            raise InvalidInputError(f"{self.file} is damaged.", "Register the gateway again.") from error

    def refuse_registered(self) -> None:
        """Refuse a folder that has a gateway already."""
        if self.file.exists():
            raise ConflictError(f"There is a gateway in {self.path} already.", "Name another folder, or remove it.")

    def save(self, found: GatewayConfiguration) -> None:
        """Replace the file at once, readable by its owner only."""
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        names = ("tenant", "gateway", "name", "address", "authority")
        values: dict[str, Any] = {name: getattr(found, name) for name in names}
        values |= {"keys": found.keys.to_texts(), "other": found.other.to_texts() if found.other else None}
        fresh = self.path / f"{_FILE}.{os.getpid()}.new"
        fresh.unlink(missing_ok=True)
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
            out.write(json.dumps(values, indent=1))
            out.flush()
            os.fsync(out.fileno())
        fresh.replace(self.file)


def _keys(texts: Mapping[str, str]) -> KeyPairs:
    return KeyPairs.from_texts(texts["signing"], texts["sealing"])
