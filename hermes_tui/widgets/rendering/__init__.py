"""Text into styled rows of cells: palette, wrapping, Markdown, code, tables, heights. Knows no widget."""
