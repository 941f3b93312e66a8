"""One file of all icons that templates may use."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

from lakehold.web.build.places import FRONT, MODULES

_SVG = '<svg xmlns="http://www.w3.org/2000/svg">{}</svg>'
_SYMBOL = '<symbol id="{name}" viewBox="0 0 24 24">{body}</symbol>'


def names() -> list[str]:
    """The icons that we use."""
    return (FRONT / "icons.txt").read_text(encoding="utf-8").split()


def sprite(out: Path) -> str:
    """Write the file; its name."""
    kept = json.loads((MODULES / "@iconify-json" / "lucide" / "icons.json").read_text(encoding="utf-8"))
    found = {name: kept["icons"].get(kept["aliases"].get(name, {}).get("parent", name)) for name in names()}
    missing = [name for name, icon in found.items() if icon is None]
    if missing:
        raise SystemExit(f"There are no such icons in lucide: {', '.join(missing)}. Correct front/icons.txt.")
    symbols = (_SYMBOL.format(name=name, body=icon["body"]) for name, icon in found.items())
    text = _SVG.format("".join(symbols)).replace('stroke-width="2"', 'stroke-width="1.75"')
    name = f"icons-{sha256(text.encode()).hexdigest()[:8].upper()}.svg"
    (out / name).write_text(text, encoding="utf-8")
    return name
