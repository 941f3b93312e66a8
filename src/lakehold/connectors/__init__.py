"""Connectors: one folder for each, with its descriptor, settings, source and destination.

Only a worker imports more of it than the registry and settings, which know nothing of Spark.

- `registry`: all connectors, found by folder; opens sources and destinations with settings, secrets and a volume
- `settings`: the base of the settings of sources and destinations, and sync modes
- `form_fields`: descriptors of forms; each connector has those of its own in its `form.yaml`
- `files`, `database`, `api`, `webhook`, `mail`, `chat`: the connectors
- `sources`: what all sources have in common: sync modes, cursors, bad rows, field types
- `destinations`: what all destinations have in common: progress, folders, file formats, requests
- `address_guard`: keeps requests out of private networks
- `error_translation`: errors of sources and deliveries as users may read them, without hosts, users and files
"""
