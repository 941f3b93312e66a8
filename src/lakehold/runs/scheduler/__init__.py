"""Scheduling: triggers that start runs, and periodic tasks of the platform.

- `service`: create, change, pause and delete triggers
- `schedule`: the schedule of a trigger, and the table of triggers
- `due`: starts the runs of due triggers; only a worker imports it
- `periodic`: tasks that are called once per interval, however many workers there are
- `housekeeping`: the platform's own periodic tasks: expire, close and clean up
"""
