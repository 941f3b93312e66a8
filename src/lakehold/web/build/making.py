"""All of the build, in order."""

from __future__ import annotations

import json
import os
import shutil
from hashlib import sha256
from pathlib import Path

from lakehold.web.build import bundle, icons, node, packages, stamp
from lakehold.web.build.places import AXE, FRONT, MANIFEST, MODULES, STATIC

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
    found = node.any_node()
    packages.install(found)
    # Two builds at once do not meet: each has a folder of its own, and the last one stays.
    fresh = STATIC.with_name(f"static.{os.getpid()}")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    names = {**bundle.bundle(found, fresh), "icons.svg": icons.sprite(fresh), "favicon.svg": _favicon(fresh)}
    _licences(fresh)
    told = {"stamp": stamp.wanted(), "files": dict(sorted(names.items()))}
    (fresh / MANIFEST.name).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    shutil.rmtree(STATIC, ignore_errors=True)
    fresh.rename(STATIC)
    return True


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
