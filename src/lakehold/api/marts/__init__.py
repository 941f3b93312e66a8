"""Marts over REST, beside what every resource has.

- `storages`: whether one can be reached, its tables, and how they look
- `marts`: publish a data mart, try its definition out, and how its checks came out
- `storage_files`: the files of a storage
- `destinations`: the secret of a live one, and the files that reports have left; `live`: pulled with that secret
- `reports`: what a report would send; `insights`: what was sent and read
- `notifications`: who is told of failed runs, broken checks and succeeded runs of a project
"""
