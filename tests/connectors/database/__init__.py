"""Connector for databases."""
