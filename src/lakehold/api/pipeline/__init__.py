"""Data over HTTP.

- `queries`: ask, stop, save the result as a table, and what was asked before
- `formats`: rows as the caller wants them
- `tables`: fields, snapshots and rows; `integrations`: a token for a tool that reads some
- `volumes`: files; `sources`: a look at one before it is made
- `runs`: start, stop, go on; how far, and what was said
- `triggers`: what starts them by itself
"""
