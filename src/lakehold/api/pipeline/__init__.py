"""Data over HTTP.

- `queries`: ask, stop, and what was asked before
- `runs`: start, stop, go on; how far, and what was said
- `triggers`: what starts them by itself
"""
