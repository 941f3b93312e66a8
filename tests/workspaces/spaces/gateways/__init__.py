"""Gateways: their keys, registration, transfers through cut connections and kills, and revocation."""
