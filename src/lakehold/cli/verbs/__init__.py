"""The verbs, a file for each noun. A verb loads what it needs when it is called: `lakehold --help` loads none of it."""
