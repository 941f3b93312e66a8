"""Spaces: data spaces with projects, tasks, connections, gateways and apps.

- `model.yaml`: who may do what: seven roles as a union, security roles, tasks that run as their project's owner
"""
