"""Scheduling: triggers that start runs, and periodic tasks of the platform.

- `service`: create, change, pause and delete triggers
- `schedule`: the schedule of a trigger, and the table of triggers
- `due`: starts the runs of due triggers; only a worker imports it
- `housekeeping`: periodic tasks, and the platform's own: expire, close and clean up
"""
