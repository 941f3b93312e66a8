"""The catalog over HTTP, one file for each noun.

- `kinds`: what kinds of resources there are, in the words of the models
- `workspaces`, `resources`, `grants`, `moves`, `owners`, `credentials`: what there is, and who holds what on it
- `requests`: asking for access, and answering
- `discoveries`: what can be found by name and asked for
- `view_as`: seeing with another member's eyes
- `usages`: when who last did what; `using` collects it
- `shown`: resources as answers tell them
- `routers`: the list of all of these
"""
