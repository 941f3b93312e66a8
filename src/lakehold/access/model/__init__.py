"""The language of access models, and its compilation into a policy.

A model is a YAML file; nothing in it is Python. From text to policy:

- `syntax`: parses one expression (owner and project.technical_user) into a tree
- `yaml_nodes`: a YAML text as nodes that know their lines, without what no model needs
- `loader`: loads one YAML file into a model, with the line of every word for the errors
- `schema`: the declarations of a model: kinds, roles, attributes, edges, rules; and kinds with their edges resolved
- `expressions`: the eleven expressions that a rule can consist of, with every name resolved
- `resolver`: resolves the names in expressions
- `policy`: models that extend each other, compiled into one relation per kind and name; and request properties
- `validation`: refuses what can be read but makes no sense: cycles, rules that never hold or add nothing
- `documentation`: the tables of a model's documentation
- `errors`: what is wrong with a model, and where
"""
