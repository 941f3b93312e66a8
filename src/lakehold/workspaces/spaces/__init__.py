"""Spaces: data spaces with projects, tasks, connections, gateways and apps.

The rights are in model.yaml: seven roles as a union, security roles, tasks that run as their project's owner.

- `workspace`: the descriptor
- `tasks`: what data tasks are told and what they do
"""
