"""Pages of runs and of the resources that are run, shared by all workspaces.

- `services`: the run and trigger services, and the kinds that can be run
- `labels`: states, causes, durations and sizes for people
- `run_page`: one run: state, steps, log and actions
- `run_list`: the runs of a workspace, and rows of runs
- `runnable_page`: what all resources that can be run share: their runs; run, reload, activate
"""
