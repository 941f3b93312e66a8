"""Notifications of a project: who gets mails of runs and checks.

- `preferences`: the channels, and the preferences of projects and members
- `membership`: the side of a project on which a member is, and since when
- `receivers`: who receives which channel, and changing that; owners whose role is too low; notices of an ended run
"""
