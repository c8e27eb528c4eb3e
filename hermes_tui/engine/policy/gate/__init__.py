"""The gate: shell text -> facts -> verdict."""
