"""Pages of marts beside those that they share with the lakehouse: data, runs, triggers and lineage.

- `overview`: a project at a glance
- `storages`, `data_marts`: how they are made, changed, tried out and looked at, each in a room of its own
- `destinations`, `reports`: the same of what goes out; `notifications`: who is told of what
- `quality`: how the checks of a data mart came out
- `reaching`: what the forms of storages and destinations share
- `looking`: a look into a storage, for pages; `framing`: what is around the views of a storage and a data mart
"""
