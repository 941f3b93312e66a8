"""The language of access models, and how a text in it becomes something to decide with.

A model is a YAML file; nothing in it is Python. It is read from top to bottom:

- `syntax`: one expression (`owner and project.technical_user`) from text to tree
- `nodes`: a YAML text as nodes that know their lines, with nothing in it that no model needs
- `document`: one YAML file to `Model`, with the line of every word for the errors
- `schema`: what a model says: kinds, roles, attributes, edges, rules
- `expressions`: the eleven things a rule can ask, with every name resolved
- `kinds`: kinds with the ends of their edges looked up
- `resolving`: names in expressions looked up
- `policy`: models that stand on each other, resolved into one relation per kind and name
- `requests`: what a question may bring along for conditions to read
- `soundness`: what is refused although it can be read: cycles, rules that never hold or add nothing
"""
