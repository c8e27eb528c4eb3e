"""A session as one HTML file: no script, nothing loaded from elsewhere, every text escaped."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from typing import Any

from ..types.messages import Message, text_of, typed_text
from .entries import Entry
from .export_markdown import facts, heading, kept

_STYLE = """
:root { color-scheme: light dark; --edge: #8884; --soft: #8881; --accent: #b8860b; }
body { max-width: 52rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.55 system-ui, sans-serif; }
h1 { font-size: 1.4rem; margin-bottom: 0; } .facts, h2 { color: GrayText; font-size: .85rem; font-weight: normal; }
section { margin: 1.2rem 0; } .user { border-left: 3px solid var(--accent); padding-left: .8rem; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; }
pre { background: var(--soft); border: 1px solid var(--edge); border-radius: 6px; padding: .6rem; overflow-x: auto; }
details { margin: .4rem 0; } summary { cursor: pointer; color: GrayText; font-size: .85rem; } img { max-width: 100%; }
hr { border: 0; border-top: 1px solid var(--edge); }
""".strip()
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_CODE = re.compile(r"^(`{3,})[^\n`]*\n(.*?)^\1`*[ \t]*$", re.M | re.S)
_IMAGE = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+")
_UNPRINTABLE = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def render(chain: Sequence[Entry]) -> str:
    """Return a conversation, from its oldest part on, as an HTML document."""
    title = _escape(heading(chain[-1]))
    body = "\n<hr>\n".join("\n".join(_section(message) for message in kept(entry)) for entry in chain)
    return (
        f'<!doctype html>\n<html>\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f'<meta name="viewport" content="width=device-width">\n<title>{title}</title>\n<style>\n{_STYLE}\n</style>\n'
        f'</head>\n<body>\n<h1>{title}</h1>\n<p class="facts">{_escape(facts(chain[-1]))}</p>\n{body}\n'
        f"</body>\n</html>\n"
    )


def _section(message: Message) -> str:
    role = message["role"]
    if role == "tool":
        return _folded(f"Result of {message.get('tool_name', 'tool')}", text_of(message))
    parts = [f"<h2>{_escape(role.capitalize())}</h2>"]
    if message.get("reasoning"):
        parts.append(_folded("Reasoning", message["reasoning"]))
    if "ran" in message and isinstance(content := message["content"], list):
        command, outcome, *output = (str(part.get("text", "")) for part in content)
        parts += [f"<pre>{_escape(command)}</pre>", *_plain(outcome), *(_folded("Output", text) for text in output)]
    elif "attached" in message and isinstance(content := message["content"], list):
        texts = [str(part.get("text", "")) for part in content[1:] if part.get("type") == "text"]
        parts += [*_prose(typed_text(message)), *(_folded("; ".join(message["attached"]), text) for text in texts)]
    else:
        parts += _prose(text_of(message))
    parts += [f'<img alt="" src="{url}">' for url in _images(message.get("content"))]
    if message.get("partial"):
        parts += [*_prose(message["partial"]), "<p><em>(interrupted)</em></p>"]
    for call in message.get("tool_calls") or ():
        parts.append(_folded(f"Call of {call['function']['name']}", call["function"]["arguments"]))
    return f'<section class="{_escape(role)}">\n' + "\n".join(parts) + "\n</section>"


def _prose(text: str) -> Iterator[str]:
    """Text as it was written, with fenced code set apart."""
    at = 0
    for block in _CODE.finditer(text):
        yield from _plain(text[at : block.start()])
        yield f"<pre>{_escape(block[2])}</pre>"
        at = block.end()
    yield from _plain(text[at:])


def _plain(text: str) -> Iterator[str]:
    if stripped := text.strip("\n"):
        yield f'<div class="text">{_escape(stripped)}</div>'


def _folded(summary: str, text: str) -> str:
    return f"<details><summary>{_escape(summary)}</summary><pre>{_escape(text)}</pre></details>"


def _images(content: Any) -> list[str]:
    """Return the pictures that are part of the message; only well-formed data URLs, which need no escaping."""
    parts = content if isinstance(content, list) else []
    urls = [part["image_url"].get("url") for part in parts if isinstance(part.get("image_url"), dict)]
    return [url for url in urls if isinstance(url, str) and _IMAGE.fullmatch(url)]


def _escape(text: str) -> str:
    return html.escape(_UNPRINTABLE.sub("\ufffd", text))
