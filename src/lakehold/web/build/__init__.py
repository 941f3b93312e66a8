"""Builds the static files of the web app: `python -m lakehold.web.build`.

It runs when the package is built, and its output is not committed. It uses only the standard library, because a
wheel is built before any dependency is installed.

- `builder`: runs the build if its output is stale, and writes the manifest
- `bundle`: bundles scripts, styles and fonts with esbuild, and writes the icon sprite
- `node`: finds or downloads Node, and installs the locked npm packages
- `paths`: the directories that the build reads and writes
"""
