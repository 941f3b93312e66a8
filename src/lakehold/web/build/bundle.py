"""Scripts, styles and fonts, each as one small file whose name changes with its content."""

from __future__ import annotations

import json
from pathlib import Path

from lakehold.web.build.node import Node
from lakehold.web.build.places import FRONT, MODULES, WORK

_ENTRIES = ("app.js", "app.css", "sql.js")
_SCRIPT = "require('esbuild').buildSync(JSON.parse(process.argv[1]))"


def bundle(node: Node, out: Path) -> dict[str, str]:
    """Write the files; their names by what they were made of."""
    meta = WORK / "bundled.json"
    options = {
        "entryPoints": [str(FRONT / name) for name in _ENTRIES],
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
        "absWorkingDir": str(WORK),
    }
    script = f"const r={_SCRIPT};require('fs').writeFileSync({json.dumps(str(meta))},JSON.stringify(r.metafile))"
    node.run(node.node, "-e", script, json.dumps(options), cwd=WORK)
    return _names(json.loads(meta.read_text(encoding="utf-8")))


def _names(meta: dict[str, dict[str, dict[str, object]]]) -> dict[str, str]:
    names: dict[str, str] = {}
    for output, made in meta["outputs"].items():
        inputs = made["inputs"]
        assert isinstance(inputs, dict)  # noqa: S101 - the shape of esbuild's report
        source = made.get("entryPoint") or next(iter(inputs))
        names[Path(str(source)).name] = Path(output).name
    return names
