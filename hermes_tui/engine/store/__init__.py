"""The session database; the only place with SQL."""
