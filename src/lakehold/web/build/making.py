"""All of the build, in order."""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from lakehold.web.build import bundle, icons, node, packages, stamp
from lakehold.web.build.places import AXE, FRONT, MANIFEST, MODULES, STATIC, WORK

_LICENCES = "licences.txt"
_SHIPPED = (
    *("htmx.org", "@fontsource-variable/inter", "@iconify-json/lucide"),
    *(f"@codemirror/{name}" for name in ("autocomplete", "commands", "lang-sql", "language", "state", "view")),
    *(f"@lezer/{name}" for name in ("common", "highlight", "lr")),
    *("@marijn/find-cluster-break", "crelt", "style-mod", "w3c-keyname"),
)


def is_stale(*, for_tests: bool = False) -> bool:
    """Whether there is something to build."""
    return stamp.found() != stamp.wanted() or (for_tests and not AXE.exists())


def build(*, for_tests: bool = False) -> bool:
    """Build what is missing or stale; whether there was any."""
    if not is_stale(for_tests=for_tests):
        return False
    with _alone():
        if is_stale(for_tests=for_tests):
            _build()
    return True


def _build() -> None:
    found = node.any_node()
    packages.install(found)
    fresh = STATIC.with_name("static.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    names = {**bundle.bundle(found, fresh), "icons.svg": icons.sprite(fresh), "favicon.svg": _favicon(fresh)}
    _licences(fresh)
    told = {"stamp": stamp.wanted(), "files": dict(sorted(names.items()))}
    (fresh / MANIFEST.name).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    shutil.rmtree(STATIC, ignore_errors=True)
    fresh.rename(STATIC)


@contextmanager
def _alone() -> Iterator[None]:
    """Whoever builds at the same time is waited for, and has perhaps built it all."""
    WORK.parent.mkdir(parents=True, exist_ok=True)
    with WORK.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _favicon(out: Path) -> str:
    text = (FRONT / "favicon.svg").read_bytes()
    name = f"favicon-{sha256(text).hexdigest()[:8].upper()}.svg"
    (out / name).write_bytes(text)
    return name


def _licences(out: Path) -> None:
    """The terms of what is shipped inside the bundles, as their authors ask for."""
    texts = []
    for name in _SHIPPED:
        package = json.loads((MODULES / name / "package.json").read_text(encoding="utf-8"))
        files = sorted((MODULES / name).glob("LICENSE*"))
        terms = files[0].read_text(encoding="utf-8") if files else f"License: {package.get('license')}"
        texts.append(f"{name} {package['version']}\n\n{terms.strip()}\n")
    (out / _LICENCES).write_text("\n\n".join(texts), encoding="utf-8")
