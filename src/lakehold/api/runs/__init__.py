"""REST endpoints of runs and of what starts them.

- `runs`: start, stop, resume, retry and delete runs; their steps and log
- `triggers`: schedules, and runs that start after other runs
"""
