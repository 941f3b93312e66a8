"""Marts over REST, beside what every resource has.

- `marts`: publish a data mart, and how its checks came out
- `reports`: what a report would send
"""
