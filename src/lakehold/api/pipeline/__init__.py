"""Data over HTTP.

- `queries`: ask, stop, save the result as a table, and what was asked before
- `texts`: queries that are kept
- `formats`: rows as the caller wants them
- `tables`: fields, snapshots and rows; `integrations`: a token for a tool that reads some
- `upkeeps`: tables kept up, rolled back, described, restored
- `volumes`: files; `sources`: a look at one before it is made
- `lineages`: what something is made from, and what reads it
- `runs`: start, stop, go on; how far, and what was said
- `triggers`: what starts them by itself
"""
