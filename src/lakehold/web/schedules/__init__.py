"""Pages of schedules and triggers, shared by all workspaces.

- `schedule_form`: the form of a schedule, its description in words, time zones
- `triggers_page`: the triggers of a resource that is run
"""
