"""Invites: who was asked to come, and asking somebody.

- `routes`: those that are open: send again, revoke
- `new`: asking somebody; the link is shown once, or mailed
- `offers`: to what the caller may invite, in the words of each model
"""
