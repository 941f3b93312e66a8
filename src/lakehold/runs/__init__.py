"""Work in the background: it goes on after a crash where it was, and no two workers do the same.

A request only writes down, in its own transaction, what is to be done: a mail in the outbox, a job in its table. The
worker finds it there and runs it as a durable workflow, named after it, so that it is run once however often it is
found. Nothing interactive waits for a queue.

What a server may import:

- `jobs`: what was asked for and what became of it: start, get, list, result
- `kinds`: the kinds of jobs: who may start one, and what it has to be told
- `book`: where they are written down
- `runs`: pipelines that are run: start, stop, resume, retry, look; `run_table`: where runs are written down
- `runnable`: what a workspace tells of a kind that can be run; `triggers`: what starts runs by itself, and
  `when`; `trigger_table`: where that is written down
- `queries`: SQL as oneself, and what was asked before; `asking`: a worker that is asked straight away
- `figures`: how many runs there are; `system`: permissions, runs and the audit log as tables for SQL;
  `sight`: all that somebody may know of; `last`: what the last run has told the next one

What only a worker imports:

- `worker`: the process: finds work, tells that it is alive, takes over from those that are not
- `engine`: durable workflows and queues, in a database file or schema of their own
- `beats`: which workers are alive; `heart`: that this one is
- `ticks`: what is done again and again; `tending`: all of it: ending what has expired, clearing up
- `workflows`: a mail, a job, a tick, as steps
- `sending`: what waits in the outbox
- `doing`, `making`: a job's steps; `exports`, `reviews`: what jobs make
- `running`: a run's steps; `turns`: which run is next; `firing`: triggers that are due;
  `notices`: who is told of one that has ended; `hooks`: an address
- `warm`: the worker's Spark
"""
