"""The scripts, styles and icons of the web app, and their build: `python -m frontend`.

The build runs when the package is built; its output, `lakehold/web/static`, is not committed. It uses only the
standard library, because a wheel is built before any dependency is installed.

- `builder`: runs the build if its output is stale: bundles with esbuild, the icon sprite, and the manifest
- `node`: the folders of the build; finds or downloads Node, and installs the locked npm packages
"""
