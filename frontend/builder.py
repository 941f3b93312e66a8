"""Runs the build if its output is missing or stale: bundles of scripts, styles and fonts, the icon sprite, and the
manifest. File names change with their content.
"""

import fcntl
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from frontend import node
from frontend.node import AXE, BUILD_DIR, FRONT, MANIFEST, MODULES, STATIC, NodeRuntime


def expected_stamp() -> str:
    """Return a digest of all files that the build depends on."""
    digest = sha256()
    for path in _source_files():
        text = path.read_bytes()
        digest.update(f"{path.name} {len(text)} ".encode() + text)
    return digest.hexdigest()


def built_stamp() -> str:
    """Return the digest that the present output was built from; empty if there is none."""
    try:
        stamp: str = json.loads(MANIFEST.read_text(encoding="utf-8"))["stamp"]
    except (OSError, ValueError, KeyError):
        return ""
    return stamp


def _source_files() -> Iterator[Path]:
    yield from sorted(path for path in FRONT.rglob("*") if path.is_file() and path.suffix != ".pyc")


_LICENCES_FILE = "licences.txt"
_SHIPPED_PACKAGES = (
    *("htmx.org", "@fontsource-variable/inter", "@iconify-json/lucide"),
    *(f"@codemirror/{name}" for name in ("autocomplete", "commands", "lang-sql", "language", "state", "view")),
    *(f"@lezer/{name}" for name in ("common", "highlight", "lr")),
    *("@marijn/find-cluster-break", "crelt", "style-mod", "w3c-keyname"),
)


def is_stale(*, for_tests: bool = False) -> bool:
    """Whether something has to be built."""
    return built_stamp() != expected_stamp() or (for_tests and not AXE.exists())


def build(*, for_tests: bool = False) -> bool:
    """Build what is missing or stale; returns whether anything was."""
    if not is_stale(for_tests=for_tests):
        return False
    with _build_lock():
        if is_stale(for_tests=for_tests):
            _build()
    return True


def _build() -> None:
    found = node.find_node()
    node.install_packages(found)
    fresh = STATIC.with_name("static.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    names = {
        **bundle_assets(found, fresh),
        "icons.svg": write_icon_sprite(fresh),
        "favicon.svg": _write_favicon(fresh),
    }
    _write_licences(fresh)
    manifest = {"stamp": expected_stamp(), "files": dict(sorted(names.items()))}
    (fresh / MANIFEST.name).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    shutil.rmtree(STATIC, ignore_errors=True)
    fresh.rename(STATIC)


@contextmanager
def _build_lock() -> Iterator[None]:
    """Hold the build lock. A second build waits, and may then find nothing left to do."""
    BUILD_DIR.parent.mkdir(parents=True, exist_ok=True)
    with BUILD_DIR.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _write_favicon(out: Path) -> str:
    text = (FRONT / "favicon.svg").read_bytes()
    name = f"favicon-{sha256(text).hexdigest()[:8].upper()}.svg"
    (out / name).write_bytes(text)
    return name


def _write_licences(out: Path) -> None:
    """Write the licences of the packages that are part of the bundles."""
    texts = []
    for name in _SHIPPED_PACKAGES:
        package = json.loads((MODULES / name / "package.json").read_text(encoding="utf-8"))
        files = sorted((MODULES / name).glob("LICENSE*"))
        terms = files[0].read_text(encoding="utf-8") if files else f"License: {package.get('license')}"
        texts.append(f"{name} {package['version']}\n\n{terms.strip()}\n")
    (out / _LICENCES_FILE).write_text("\n\n".join(texts), encoding="utf-8")


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
        raise SystemExit(f"There are no such icons in lucide: {', '.join(missing)}. Correct frontend/icons.txt.")
    symbols = (_SYMBOL.format(name=name, body=icon["body"]) for name, icon in found.items())
    text = _SVG.format("".join(symbols)).replace('stroke-width="2"', 'stroke-width="1.75"')
    name = f"icons-{sha256(text.encode()).hexdigest()[:8].upper()}.svg"
    (out / name).write_text(text, encoding="utf-8")
    return name
