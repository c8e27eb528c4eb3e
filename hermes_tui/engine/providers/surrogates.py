"""Characters beyond the basic plane that a server cut in two: half an escape in one chunk, half in the next."""

from __future__ import annotations


class SurrogateJoiner:
    """Passes text pieces on without lone surrogates, joining the halves of neighbouring pieces."""

    __slots__ = ("_high",)

    def __init__(self) -> None:
        self._high = ""

    def feed(self, piece: str) -> str:
        """Return the text that this piece completes."""
        if self._high:
            piece, self._high = self._high + piece, ""
        elif piece.isascii():
            return piece
        if "\ud800" <= piece[-1:] <= "\udbff":
            piece, self._high = piece[:-1], piece[-1]
        try:
            piece.encode()
        except UnicodeEncodeError:
            return piece.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return piece

    def close(self) -> str:
        """Return a replacement for a half that never got its other half."""
        high, self._high = self._high, ""
        return "\ufffd" if high else ""
