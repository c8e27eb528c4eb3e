"""Settings: documented frozen fields, loaded from files, environment and flags. May import types only."""
