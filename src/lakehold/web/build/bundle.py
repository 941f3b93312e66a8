"""Bundles scripts, styles and fonts with esbuild, and writes the icon sprite. File names change with their content."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

from lakehold.web.build.node import NodeRuntime
from lakehold.web.build.paths import BUILD_DIR, FRONT, MODULES

_ENTRY_POINTS = ("app.js", "app.css", "sql.js")
_SCRIPT = "require('esbuild').buildSync(JSON.parse(process.argv[1]))"


def bundle_assets(node: NodeRuntime, out: Path) -> dict[str, str]:
    """Write the bundles; returns their file names by the names of their sources."""
    meta = BUILD_DIR / "bundled.json"
    options = {
        "entryPoints": [str(FRONT / name) for name in _ENTRY_POINTS],
        "outdir": str(out),
        "nodePaths": [str(MODULES)],
        "bundle": True,
        "minify": True,
        "format": "iife",
        "target": "es2022",
        "charset": "utf8",
        "legalComments": "none",
        "entryNames": "[name]-[hash]",
        "assetNames": "[name]-[hash]",
        "loader": {".woff2": "file", ".svg": "file"},
        "metafile": True,
        "logLevel": "error",
        "absWorkingDir": str(BUILD_DIR),
    }
    script = f"const r={_SCRIPT};require('fs').writeFileSync({json.dumps(str(meta))},JSON.stringify(r.metafile))"
    node.run(node.node, "-e", script, json.dumps(options), cwd=BUILD_DIR)
    return _output_names(json.loads(meta.read_text(encoding="utf-8")))


def _output_names(meta: dict[str, dict[str, dict[str, object]]]) -> dict[str, str]:
    names: dict[str, str] = {}
    for output, made in meta["outputs"].items():
        inputs = made["inputs"]
        assert isinstance(inputs, dict)  # noqa: S101 - the shape of esbuild's report
        source = made.get("entryPoint") or next(iter(inputs))
        names[Path(str(source)).name] = Path(output).name
    return names


_SVG = '<svg xmlns="http://www.w3.org/2000/svg">{}</svg>'
_SYMBOL = '<symbol id="{name}" viewBox="0 0 24 24">{body}</symbol>'


def icon_names() -> list[str]:
    """Return the names of the icons in use."""
    return (FRONT / "icons.txt").read_text(encoding="utf-8").split()


def write_icon_sprite(out: Path) -> str:
    """Write one SVG file with all icons; returns its file name."""
    kept = json.loads((MODULES / "@iconify-json" / "lucide" / "icons.json").read_text(encoding="utf-8"))
    found = {name: kept["icons"].get(kept["aliases"].get(name, {}).get("parent", name)) for name in icon_names()}
    missing = [name for name, icon in found.items() if icon is None]
    if missing:
        raise SystemExit(f"There are no such icons in lucide: {', '.join(missing)}. Correct front/icons.txt.")
    symbols = (_SYMBOL.format(name=name, body=icon["body"]) for name, icon in found.items())
    text = _SVG.format("".join(symbols)).replace('stroke-width="2"', 'stroke-width="1.75"')
    name = f"icons-{sha256(text.encode()).hexdigest()[:8].upper()}.svg"
    (out / name).write_text(text, encoding="utf-8")
    return name
