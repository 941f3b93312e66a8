"""The lakehouse: its data, its SQL, and what moves its rows.

Tables and SQL:

- `overview`: a lakehouse at a glance
- `browsing`: layers, tables and volumes, to look through and to search
- `deleted`: tables that were deleted, to be brought back
- `tables`: the views of a table: fields, sample, snapshots, the runs that write it; `upkeeping`: kept up, rolled back
- `lineage`: what a table is made from and what reads it; `graphs`: things and what leads from one to the other, drawn
- `editor`: the SQL editor; `answers`: what a query gave; `completing`: the names that the editor knows
- `saved`: queries that one keeps; `keeping`: their results kept as tables; `asked`: what one asked before
- `grids`: rows as cells; `charts`: rows as bars or a line; `frames`: what is around the views of a table
- `reading_data`: the routers of all of these

Pipelines, runs and files:

- `run`: one run, as it goes on, and its log; `runs`: those of a workspace
- `pipelines`: those of a workspace, as a list and drawn
- `pipeline`: one of them: what it reads and writes, how it is set, its runs; run it, reload it
- `backfilling`: a past span of one is run anew; `integrations`: tokens with which tools are let in
- `sources`, `destinations`: how they are set up, tried and changed, each in a room of its own; `reaching`: what their
  forms have in common
- `triggers`: when it runs by itself; `switching`: all of that goes on, or pauses
- `timing`: when, as a form says it; `schedules`: a schedule in words; `zones`: time zones that people know
- `making`: new queries, histories, notebooks and integrations, and changing them; `forms`: what their forms have in
  them; `checking`: a query is looked at before it is kept
- `files`: the files of a volume or a storage; `holding`: what has some
- `saying`: states, causes, durations and sizes in words; `doing`: the services that all of these ask
"""
