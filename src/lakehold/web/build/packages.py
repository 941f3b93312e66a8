"""npm packages, exactly those of the lock. They have no addresses in it, only digests, and run no scripts."""

from __future__ import annotations

import json
import shutil

from lakehold.web.build.node import Node
from lakehold.web.build.places import FRONT, MODULES, WORK

_LISTS = ("package.json", "package-lock.json", ".npmrc")


def install(node: Node) -> None:
    """Fetch the packages, unless they are there."""
    if all(_same(name) for name in _LISTS) and (MODULES / ".package-lock.json").exists():
        return
    _copy()
    node.run(*node.npm, "ci", "--loglevel=error", cwd=WORK)


def lock(node: Node) -> None:
    """Write the lock anew, without the addresses that authors put into their packages."""
    _copy()
    node.run(*node.npm, "install", "--package-lock-only", "--loglevel=error", cwd=WORK)
    kept = json.loads((WORK / "package-lock.json").read_text(encoding="utf-8"))
    for package in kept["packages"].values():
        for name in ("resolved", "funding", "engines"):
            package.pop(name, None)
    (FRONT / "package-lock.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def _copy() -> None:
    WORK.mkdir(parents=True, exist_ok=True)
    for name in _LISTS:
        if (FRONT / name).exists():
            shutil.copy(FRONT / name, WORK / name)


def _same(name: str) -> bool:
    here = WORK / name
    return here.exists() and here.read_bytes() == (FRONT / name).read_bytes()
