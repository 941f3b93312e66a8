"""How rows come in and go out. Only a worker imports this.

- `inward`: from files, databases and APIs
- `outward`: to files, databases, addresses and people
- `java`: what Java said, behind an error that has come to Python
- `veiling`: words of others, without what they tell of where something is
"""
