"""Builds the static files of the web app: `python -m lakehold.web.build`.

It runs when the package is built, and its output is not committed. It uses only the standard library, because a
wheel is built before any dependency is installed.

- `builder`: runs the build if its output is stale: bundles with esbuild, the icon sprite, and the manifest
- `node`: the folders of the build; finds or downloads Node, and installs the locked npm packages
"""
