"""Marts: projects of storages, data marts, destinations, reports, triggers and runs.

- `model.yaml`: who may do what: three project roles, owners, two sharing toggles, contexts
- `nouns`: what there is in a project
- `definitions`: how a data mart is defined; `questions`, `values`: what a report asks; `joining`: of which marts;
  `reporting`: both together, as SQL
- `checks`: what a mart promises of its rows; `quality`: how that came out
- `publishing`: when a mart may be reported on; `lineage`: where its rows come from and where they go
- `storages`: what one is, and who may look into it; `looking`: its tables, and what a mart of it would have
- `feeding`: a connector of a mart's own, and who may look at it
- `messages`: what a report says in a mail or a chat; `previewing`: before it is said
- `live`: destinations that are pulled; `insights`: what became of reports
- `notifications`: who is told by mail of runs and checks
- `files`: those of storages and destinations
- `pipelines`: what can be run; `steps`: what that takes; `doing`: how it is done, which only a worker imports
"""
