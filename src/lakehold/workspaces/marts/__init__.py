"""Marts: projects of storages, data marts, destinations, reports, triggers and runs.

- `model.yaml`: who may do what: three project roles, owners, two sharing toggles, contexts
"""
