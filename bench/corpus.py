"""A deterministic corpus of sessions in English, Chinese, Japanese, Korean, code and tool output.

Words follow Zipf's law, so that queries can be drawn by how common their words are. The same size and seed always give
the same rows.
"""

from __future__ import annotations

import json
import random
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from hermes_tui.engine.store.db import SessionDB
from hermes_tui.engine.types.messages import Message

_USED_LONG_AGO = "UPDATE sessions SET updated_at = (SELECT created_at FROM messages WHERE id = last_message_id)"
_START_S = 1_700_000_000.0
_MESSAGES_PER_SESSION = 50
_KINDS = ("en", "zh", "ja", "ko", "code", "log")
_SHARES = (38, 17, 7, 6, 14, 18)
_MODELS = (("anthropic", "claude-sonnet"), ("anthropic", "claude-opus"), ("openai", "gpt-5"), ("local", "qwen3"))


@dataclass(frozen=True)
class Vocabulary:
    """Words, the most common first, and their running weights."""

    words: list[str]
    weights: list[float]

    @classmethod
    def of(cls, words: list[str], flatness: float = 2.0) -> Vocabulary:
        unique = list(dict.fromkeys(words))
        return cls(unique, list(accumulate(1 / (rank + flatness) for rank in range(len(unique)))))

    def sample(self, rng: random.Random, count: int) -> list[str]:
        return rng.choices(self.words, cum_weights=self.weights, k=count)


class Corpus:
    """Generates text; ``vocabularies`` says which words to query."""

    def __init__(self, seed: int = 7) -> None:
        self._rng = random.Random(seed)
        rng = self._rng
        syllables = [c + v + e for c in "bcdfghklmnprstvw" for v in "aeiou" for e in ("", "n", "r", "s", "t")]
        latin = ["".join(rng.choices(syllables, k=rng.choice((1, 2, 2, 3, 3, 4)))) for _ in range(40_000)]
        han = [chr(code) for code in range(0x4E00, 0x4E00 + 5000)]
        rng.shuffle(han)
        common_han = Vocabulary.of(han[:3500], 20.0)
        zh = ["".join(common_han.sample(rng, rng.choice((1, 2, 2, 2, 3, 4)))) for _ in range(30_000)]
        kana = [chr(code) for code in range(0x3042, 0x3094)]
        katakana = [chr(code) for code in range(0x30A2, 0x30F4)]
        ja = [
            "".join(rng.choices(kana if rng.random() < 0.5 else katakana, k=rng.choice((1, 2, 3, 4))))
            if rng.random() < 0.6
            else "".join(common_han.sample(rng, 2))
            for _ in range(20_000)
        ]
        hangul = [chr(code) for code in range(0xAC00, 0xD7A3, 7)]
        ko = ["".join(rng.choices(hangul, k=rng.choice((1, 2, 3, 4)))) for _ in range(20_000)]
        self.vocabularies = {
            "en": Vocabulary.of(latin),
            "zh": Vocabulary.of(zh),
            "ja": Vocabulary.of(ja),
            "ko": Vocabulary.of(ko),
        }

    def text(self, kind: str) -> str:
        """Return one message's text of a kind."""
        make: Callable[[], str] = getattr(self, f"_{kind}")
        return make()

    def _en(self) -> str:
        words = self.vocabularies["en"].sample(self._rng, self._rng.randrange(8, 140))
        return ". ".join(" ".join(words[at : at + 12]) for at in range(0, len(words), 12)) + "."

    def _zh(self) -> str:
        words = self.vocabularies["zh"].sample(self._rng, self._rng.randrange(8, 100))
        return "。".join("".join(words[at : at + 9]) for at in range(0, len(words), 9)) + "。"

    def _ja(self) -> str:
        words = self.vocabularies["ja"].sample(self._rng, self._rng.randrange(8, 80))
        return "。".join("".join(words[at : at + 9]) for at in range(0, len(words), 9)) + "。"

    def _ko(self) -> str:
        words = self.vocabularies["ko"].sample(self._rng, self._rng.randrange(8, 80))
        return ". ".join(" ".join(words[at : at + 9]) for at in range(0, len(words), 9)) + "."

    def _code(self) -> str:
        words = self.vocabularies["en"].sample(self._rng, 40)
        names = ["_".join(words[at : at + 2]) for at in range(0, 40, 2)]
        body = "\n".join(
            f"    {names[i]} = {names[i + 1]}({words[i]!r}, {i}) or {names[i + 2]}.{words[i + 3]}" for i in range(12)
        )
        return f"```python\ndef {names[0]}({names[1]}, {names[2]}=0):\n{body}\n    return {names[3]}\n```"

    def _log(self) -> str:
        words = self.vocabularies["en"].sample(self._rng, 60)
        return "\n".join(
            f"2026-10-{i + 1:02d}T12:{i:02d}:07 [{'ERR' if i % 9 == 0 else 'INFO'}] "
            f"/srv/{words[i]}/{words[i + 1]}.py:{i * 7} {words[i + 2]}: {' '.join(words[i + 3 : i + 9])}"
            for i in range(0, 48, 4)
        )

    def session(self, size: int, start_s: float) -> Iterator[Message]:
        """Return the messages of one session: a question, then a call, its result and an answer, again and again."""
        rng = self._rng
        for number in range(size):
            at = start_s + number * 7.0
            kind = rng.choices(_KINDS, _SHARES)[0]
            step = number % 4
            if step == 0:
                yield {
                    "role": "user",
                    "content": self.text(kind if kind not in ("code", "log") else "en"),
                    "created_at": at,
                }
            elif step == 1:
                arguments = json.dumps({"command": f"grep -rn {self.text('en')[:40]} src"}, ensure_ascii=False)
                call = {
                    "id": f"call_{number}",
                    "type": "function",
                    "function": {"name": "terminal", "arguments": arguments},
                }
                yield {"role": "assistant", "content": None, "tool_calls": [call], "created_at": at}  # type: ignore[list-item]
            elif step == 2:
                key = "error" if rng.random() < 0.05 else "output"
                result = json.dumps({key: self.text("log" if kind != "code" else "code")})
                yield {
                    "role": "tool",
                    "content": result,
                    "tool_call_id": f"call_{number - 1}",
                    "tool_name": "terminal",
                    "created_at": at,
                }
            else:
                yield {"role": "assistant", "content": self.text(kind), "finish_reason": "stop", "created_at": at}


def build(path: Path, messages: int, seed: int = 7) -> float:
    """Fill a store with at least ``messages`` messages; returns the seconds it took."""
    corpus = Corpus(seed)
    rng = random.Random(seed + 1)
    started = time.perf_counter()
    with SessionDB(path) as db:
        done = number = 0
        while done < messages:
            provider, model = _MODELS[number % 4]
            session = db.create(
                title=" ".join(corpus.vocabularies["en"].sample(rng, 4)) if number % 3 else None,
                source="tui" if number % 5 else "run",
                cwd=f"/home/dev/project{number % 40}",
                model=model,
                provider=provider,
                session_id=f"bench_{number:06d}",
            )
            size = rng.choice((12, 30, _MESSAGES_PER_SESSION, 108))
            db.append_many(session, corpus.session(size, _START_S + number * 3600))
            done += size
            number += 1
    # A session counts as used when it was made; here it was used long ago.
    with sqlite3.connect(path) as conn:
        conn.execute(_USED_LONG_AGO)
    return time.perf_counter() - started
