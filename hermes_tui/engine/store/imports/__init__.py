"""Readers of what other programs stored; each turns its source into entries and writes nothing."""
