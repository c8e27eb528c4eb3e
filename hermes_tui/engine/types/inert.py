"""Make untrusted text safe to draw: the one sanitiser for all text of models, tools, files and people.

Nothing that passes here can move the cursor, set a title, write the clipboard, reverse the reading order or hide words.
Complete terminal sequences are dropped; everything else that would be unseen is shown as a symbol, so that a reader
notices it. Cleaning works line by line: no rule looks across a line end.
"""

from __future__ import annotations

import re

MAX_MARKS = 8
"""Combining marks kept on one letter. Source: longer piles only occur as decoration that spills over other rows."""

_SUSPICIOUS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    r"\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]|[\u0300-\u036f\u0483-\u0489\u20d0-\u20ff]{9}"
)
_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI
    r"|(?:\x1b[\]P_^X]|[\x9d\x90\x9f\x9e\x98])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)"  # OSC, DCS, APC, PM, SOS
    r"|\x1b[ -/]+[0-~]|\x1b[0-OQ-WYZ`-~]"  # the short ones
)
_PARTIAL_SEQUENCE = re.compile(r"(?:\x1b(?:\[[0-?]*[ -/]*|[\]P_^X][^\x07\x1b\x9c\n]*\x1b?|[ -/]*)?|\x9b[0-?]*)$")
_TAGS = re.compile(r"[\U000e0000-\U000e007f]+")
_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{2,7}\U000e007f")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]+")
_MARKS = re.compile(r"([\u0300-\u036f\u0483-\u0489\u20d0-\u20ff]{8})[\u0300-\u036f\u0483-\u0489\u20d0-\u20ff]+")
_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    r"\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0080-\U000e0fff]"
)
_DROPPED = frozenset("\xad\u061c\u200e\u200f\ufeff")
"""Harmless where they occur and never seen: soft hyphen, direction hints, byte order mark."""
_JOINERS = frozenset("\u200c\u200d")


def clean(text: str) -> str:
    """Return text that is safe to draw; line ends and tabs are kept.

    Args:
        text: Anything, of any length.
    """
    if _SUSPICIOUS.search(text) is None:
        return text
    return "\n".join(map(clean_line, text.replace("\r\n", "\n").split("\n")))


def clean_line(line: str) -> str:
    """Return one line made safe; what would break the line becomes a blank."""
    if _SUSPICIOUS.search(line) is None:
        return line
    line = _SEQUENCE.sub("", line.rstrip("\r"))
    flags: list[str] = []

    def keep_flag(match: re.Match[str]) -> str:
        flags.append(match.group())
        return "\U0001f3f4\uffff"

    line = _FLAG.sub(keep_flag, line)
    line = _TAGS.sub(_show_tags, line)
    line = _SELECTORS.sub(_show_selectors, line)
    line = _MARKS.sub(r"\1", line)
    line = _UNSEEN.sub(_show, line)
    for flag in flags:
        line = line.replace("\U0001f3f4\uffff", flag, 1)
    return line


def clean_partial(line: str) -> str:
    """Return an unfinished line made safe; a sequence that has only begun is left out until more arrives."""
    return clean_line(_PARTIAL_SEQUENCE.sub("", line)) if _SUSPICIOUS.search(line) else line


def one_line(text: str) -> str:
    """Return the words of a text on one line, safe to draw."""
    return clean(" ".join(text.split()))


def last_overwrite(text: str) -> str:
    """Return what remains of each line after carriage returns rewrote it, as progress bars do."""
    if "\r" not in text:
        return text
    return "\n".join(line.rstrip("\r").rsplit("\r", 1)[-1] for line in text.split("\n"))


def _show_tags(match: re.Match[str]) -> str:
    hidden = "".join(chr(ord(c) - 0xE0000) for c in match.group() if 0xE0020 <= ord(c) <= 0xE007E)
    return f"\u27e8hidden: {hidden}\u27e9" if hidden else "\u27e8hidden\u27e9"


def _show_selectors(match: re.Match[str]) -> str:
    run = match.group()
    return run if len(run) == 1 else f"{run[0]}\u27e8{len(run) - 1} hidden\u27e9"


def _show(match: re.Match[str]) -> str:
    char = match.group()
    code = ord(char)
    if char in _DROPPED:
        return ""
    if char in _JOINERS:
        before, after = match.start() - 1, match.end()
        text = match.string
        joins = before >= 0 and after < len(text) and ord(text[before]) > 0x2FF and ord(text[after]) > 0x2FF
        return char if joins else f"\u27e8{code:04X}\u27e9"
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if code in {0x85, 0x2028, 0x2029}:
        return " "
    if code < 0xA0 or 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return f"\u27e8{code:04X}\u27e9"
