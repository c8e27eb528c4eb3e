"""Every operator, filter and script against a scan of a small corpus, in any combination."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes_tui.engine.store.db import SessionDB
from hermes_tui.engine.store.text import fold
from hermes_tui.engine.types.messages import Message

WORDS = (
    *("deploy", "deployment", "café", "Привет", "C++", "foo-bar", "数据库", "数据", "库存"),
    *("データ", "오류", "오류확인", "ฐานข้อมูล", "🎉", "𠮷野家"),
)
PHRASES = ("deploy café", "foo-bar deploy", "数据库 deploy", "deployment 오류", "数据库存")
PREFIXES = ("deplo", "caf", "dep", "прив")
ROLES = ("user", "assistant", "tool")
TOOLS = ("terminal", "read_file", "web_search")
SOURCES = ("tui", "run", "gateway:telegram")
FOLDERS = ("/work/api", "/work/web", "/home/me")
MODELS = (("anthropic", "claude-opus"), ("openai", "gpt-5"))
MONTHS = (1, 4, 8)


@dataclass(frozen=True)
class Said:
    """One message and what filters ask of it."""

    text: str
    role: str
    tool: str = ""
    is_error: bool = False
    at: float = 0.0


@dataclass
class Talk:
    """One session."""

    source: str
    cwd: str
    model: str
    title: str
    said: list[Said] = field(default_factory=list)


def month(number: int) -> float:
    return time.mktime((2025, number, 15, 12, 0, 0, 0, 0, -1))


def make(rng: random.Random) -> Talk:
    provider, model = rng.choice(MODELS)
    talk = Talk(
        rng.choice(SOURCES), rng.choice(FOLDERS), f"{provider}/{model}", rng.choice(("", "Payment bug", "Other"))
    )
    at = month(rng.choice(MONTHS))
    for _ in range(4):
        role = rng.choice(ROLES)
        text = rng.choice((" ", "，", " ")).join(rng.choices((*WORDS, *PHRASES), k=rng.randrange(1, 5)))
        tool = rng.choice(TOOLS) if role == "tool" else ""
        is_error = role == "tool" and rng.random() < 0.4
        talk.said.append(Said(f'{{"error": "{text}"}}' if is_error else text, role, tool, is_error, at))
    return talk


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SessionDB, dict[str, Talk]]]:
    rng = random.Random(11)
    db = SessionDB(tmp_path_factory.mktemp("oracle") / "state.db")
    talks: dict[str, Talk] = {}
    for number in range(150):
        talk = make(rng)
        provider, model = talk.model.split("/")
        session = db.create(
            talk.title or None,
            source=talk.source,
            cwd=talk.cwd,
            model=model,
            provider=provider,
            session_id=f"s{number}",
        )
        talks[session] = talk
        rows: list[Message] = [
            {
                "role": said.role,
                "content": said.text,
                "created_at": said.at,
                **({"tool_name": said.tool} if said.tool else {}),
            }  # type: ignore[typeddict-item]
            for said in talk.said
        ]
        db.append_many(session, rows)
        db._set(session, {"updated_at": talk.said[0].at, "created_at": talk.said[0].at})
    yield db, talks
    db.close()


def has(text: str, word: str, *, prefix: bool = False) -> bool:
    """Whole words where letters have spaces between them, anywhere in scripts without; signs letter by letter."""
    folded, word = fold(text), fold(word)
    letter = r"(?![\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3])[^\W_]"
    head = f"(?<!{letter})" if re.match(letter, word) else ""
    tail = f"(?!{letter})" if re.match(letter, word[-1]) and not prefix else ""
    if head:
        return any(
            not (match.start() and re.match(letter, folded[match.start() - 1]))
            for match in re.finditer(re.escape(word) + tail, folded)
        )
    return re.search(re.escape(word) + tail, folded) is not None


def phrase(text: str, words: str) -> bool:
    """Signs between plain words do not count; a phrase with signs or several scripts is compared as it stands."""
    first, *rest = fold(words).split()
    gap = r"[^\w]+" if re.fullmatch(r"[a-z ]+", fold(words)) else r"\s+"
    found = re.search(gap.join(map(re.escape, (first, *rest))), fold(text))
    return found is not None and has(text, first) and (not rest or has(text, rest[-1]))


Check = Callable[[Talk, Said], bool]
TERMS: dict[str, Check] = {word: (lambda talk, said, word=word: has(said.text, word)) for word in WORDS}  # type: ignore[misc]
TERMS |= {f"{word}*": (lambda talk, said, word=word: has(said.text, word, prefix=True)) for word in PREFIXES}  # type: ignore[misc]
FILTERS: dict[str, Check] = {
    **{f"role:{role}": (lambda talk, said, role=role: said.role == role) for role in ROLES},  # type: ignore[misc]
    **{f"tool:{tool}": (lambda talk, said, tool=tool: said.tool == tool) for tool in TOOLS},  # type: ignore[misc]
    "source:run": lambda talk, said: talk.source == "run",
    "source:gateway": lambda talk, said: talk.source.startswith("gateway"),
    "cwd:/work": lambda talk, said: talk.cwd.startswith("/work/"),
    "cwd:/work/api": lambda talk, said: talk.cwd == "/work/api",
    "model:opus": lambda talk, said: "opus" in talk.model,
    "model:openai/": lambda talk, said: talk.model.startswith("openai/"),
    "title:payment": lambda talk, said: talk.title.startswith("Payment"),
    "has:error": lambda talk, said: said.is_error,
    "before:2025-06": lambda talk, said: said.at < time.mktime((2025, 6, 1, 0, 0, 0, 0, 0, -1)),
    "after:2025-03": lambda talk, said: said.at >= time.mktime((2025, 3, 1, 0, 0, 0, 0, 0, -1)),
}


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    wanted=st.lists(st.lists(st.sampled_from(sorted(TERMS)), min_size=1, max_size=2), min_size=1, max_size=2),
    unwanted=st.lists(st.sampled_from(sorted(WORDS)), max_size=1),
    filters=st.lists(st.sampled_from(sorted(FILTERS)), max_size=3, unique_by=lambda name: name.partition(":")[0]),
    excluded=st.lists(st.sampled_from(sorted(FILTERS)), max_size=1),
)
def test_operators_filters_and_scripts_together_equal_a_scan(
    corpus: tuple[SessionDB, dict[str, Talk]],
    wanted: list[list[str]],
    unwanted: list[str],
    filters: list[str],
    excluded: list[str],
) -> None:
    db, talks = corpus
    parts = [" OR ".join(clause) for clause in wanted]
    parts += [f"-{word}" for word in unwanted] + filters + [f"-{name}" for name in excluded]

    def fits(talk: Talk, said: Said) -> bool:
        return (
            all(any(TERMS[term](talk, said) for term in clause) for clause in wanted)
            and not any(has(said.text, word) for word in unwanted)
            and all(FILTERS[name](talk, said) for name in filters)
            and not any(FILTERS[name](talk, said) for name in excluded)
        )

    expected = {
        session: count for session, talk in talks.items() if (count := sum(fits(talk, said) for said in talk.said))
    }
    page = db.search(" ".join(parts) + " ", limit=1000)
    assert {hit.session.id: hit.hit_count for hit in page.hits if hit.hit_count} == expected, " ".join(parts)


@pytest.mark.parametrize("words", PHRASES)
@pytest.mark.parametrize("name", ["", *sorted(FILTERS)])
def test_phrases_equal_a_scan_under_every_filter(
    corpus: tuple[SessionDB, dict[str, Talk]], words: str, name: str
) -> None:
    db, talks = corpus
    expected = {
        session
        for session, talk in talks.items()
        if any(phrase(said.text, words) and (not name or FILTERS[name](talk, said)) for said in talk.said)
    }
    page = db.search(f'"{words}" {name} ', limit=1000)
    assert {hit.session.id for hit in page.hits if hit.hit_count} == expected
