"""Marts: projects of storages, data marts, destinations, reports, triggers and runs.

- `model.yaml`: who may do what: three project roles, owners, two sharing toggles, contexts
- `definitions`: how a data mart is defined; `questions`, `values`: what a report asks; `joining`: of which marts;
  `reporting`: both together, as SQL
- `checks`: what a mart promises of its rows; `quality`: how that came out
- `publishing`: when a mart may be reported on
- `pipelines`: what can be run; `steps`: what that takes; `doing`: how it is done, which only a worker imports
"""
