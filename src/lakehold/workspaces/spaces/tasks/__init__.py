"""Data tasks: what each type of task is told by its settings, and what it does. Nothing here knows Spark.

- `visual_steps`: the visual steps of a transform task, and their SQL
"""
