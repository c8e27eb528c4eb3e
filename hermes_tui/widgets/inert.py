"""The one sanitiser, under the name by which widgets know it; it lives where surfaces without a screen reach it too."""

from __future__ import annotations

from hermes_tui.engine.types.inert import MAX_MARKS, clean, clean_line, clean_partial, last_overwrite, one_line

__all__ = ["MAX_MARKS", "clean", "clean_line", "clean_partial", "last_overwrite", "one_line"]
