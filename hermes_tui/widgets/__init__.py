"""Widgets: plain data in, messages out; no engine object."""
