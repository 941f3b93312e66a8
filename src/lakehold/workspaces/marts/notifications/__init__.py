"""Notifications of a project: who gets mails of runs and checks.

- `preferences`: the channels, the preferences of projects and members, and since when a member is on their side
- `receivers`: who receives which channel, and changing that; owners whose role is too low; notices of an ended run
"""
