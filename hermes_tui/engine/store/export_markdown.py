"""A session as Markdown, reading like the chat."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence

from ..types.messages import Message, text_of, typed_text
from .entries import Entry

_FENCE = re.compile("`{3,}")


def heading(entry: Entry) -> str:
    """Return a session's title, else its first words, else its id."""
    return str(entry.session.get("title") or entry.session.get("preview") or entry.id)


def facts(entry: Entry) -> str:
    """Return when, with which model and where it took place, on one line."""
    session = entry.session
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(session["created_at"]))
    return " \u00b7 ".join(filter(None, [when, session.get("model"), session.get("cwd")]))


def kept(entry: Entry) -> list[Message]:
    """Return the messages that were not taken back."""
    return [message for at, message in enumerate(entry.messages) if at not in entry.undone_at]


def render(chain: Sequence[Entry]) -> str:
    """Return a conversation, from its oldest part on, as Markdown."""
    lines = [f"# {heading(chain[-1])}", "", facts(chain[-1]), ""]
    for entry in chain:
        for message in kept(entry):
            lines += _message(message)
    return "\n".join(lines).rstrip() + "\n"


def _message(message: Message) -> list[str]:
    text = text_of(message)
    if message["role"] == "tool":
        return [f"**Result of {message.get('tool_name', 'tool')}**", "", *_fenced(text), ""]
    if "ran" in message and isinstance(content := message["content"], list):
        command, outcome, *output = (str(part.get("text", "")) for part in content)
        fenced = [line for text in output for line in (*_fenced(text), "")]
        return ["## User", "", *_fenced(command), "", outcome, "", *fenced]
    if "attached" in message and isinstance(content := message["content"], list):
        words = [f"- {' '.join(line.split())}" for line in message["attached"]]
        texts = [str(part.get("text", "")) for part in content[1:] if part.get("type") == "text"]
        fenced = [line for text in texts for line in (*_fenced(text), "")]
        return ["## User", "", typed_text(message), "", *words, "", *fenced]
    lines = [f"## {message['role'].capitalize()}", ""] if text or message.get("partial") else []
    lines += [text, ""] if text else []
    if message.get("partial"):
        lines += [message["partial"], "", "*(interrupted)*", ""]
    for call in message.get("tool_calls") or ():
        lines += [f"**Call of {call['function']['name']}**", "", *_fenced(call["function"]["arguments"]), ""]
    return lines


def _fenced(text: str) -> list[str]:
    """Fence a text with more backticks than it holds in a row."""
    longest = max((len(run) for run in _FENCE.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return [fence, text, fence]
