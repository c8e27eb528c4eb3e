"""Undo of what the agent did to files: seeing it, keeping it, taking it back."""
