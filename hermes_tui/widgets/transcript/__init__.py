"""The transcript: one scrolling view over plain entries."""

from .transcript import Transcript

__all__ = ["Transcript"]
