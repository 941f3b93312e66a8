"""Builds the files that browsers get: `python -m lakehold.web.build`. Done at package build; nothing of it is kept.

Only the standard library is used here, because a wheel is built before anything is installed.

- `places`: which folders; `stamp`: whether what is there is still right
- `node`: Node, from the machine or from a Python package; `packages`: npm packages, checked against the lock
- `bundle`: scripts, styles and fonts, by esbuild; `icons`: one file of all icons that are used
- `making`: all of it, in order, and the manifest
"""
