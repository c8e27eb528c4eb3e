"""The transcript: one scrolling view over plain entries."""

from .greeting import Greeting
from .transcript import Transcript

__all__ = ["Greeting", "Transcript"]
