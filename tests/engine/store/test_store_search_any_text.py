"""No text is an error, and hits equal a scan of all messages."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from support.store import found

from hermes_tui.engine.store.db import SessionDB
from hermes_tui.engine.store.text import INDEX_VERSION, fold

PIECES = [
    "foo", "bar", "foobar", "AND", "OR", "NOT", "NEAR(", "-", '"', "*", "^", ":", "(", ")", "{", "}", "+", "%", "_",
    "\\", "数据", "据库", "库", "a", "é", "🎉", "\0", "\ud800", " ", "\n", "role:user", "role:", "tool:x",
    "before:2024", "after:9999d", "after:0000", "before:9999-99", "cwd:", "cwd:~nobody/x", "title:", "has:error", "'",
    ";", "--", "/*", "facets:rx", "body:x",
]  # fmt: skip


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SessionDB]:
    db = SessionDB(tmp_path_factory.mktemp("small") / "state.db")
    session = db.create(title="foo 数据")
    db.append_many(
        session, [{"role": "user", "content": "foo bar 数据库 \0 \ud800 🎉"}, {"role": "assistant", "content": "a-b_c"}]
    )
    yield db
    db.close()


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.text(st.characters(), max_size=60), st.lists(st.sampled_from(PIECES), max_size=12).map("".join)))
@example("x" * 10_000)
@example("foo " * 2500)
@example('"' * 999)
@example("(" * 500 + ")" * 500)
@example("数" * 3000)
@example("-cwd:x -title:y " * 1200)
@example("role:user " * 1900)
@example("de* fo* " * 40)
@example("a OR " * 3000)
def test_no_text_is_an_error(small: SessionDB, query: str) -> None:
    page = small.search(query)
    small.search(query, cursor=page.cursor or "1.1.1", cwd="/x")
    for hit in page.hits:
        for snippet in hit.snippets:
            snippet.text.encode()
            assert all(0 <= start < end <= len(snippet.text) for start, end in snippet.marks)


WORDS = [
    "alpha",
    "beta",
    "gamma",
    "alphabet",
    "数据",
    "据库",
    "数",
    "库存",
    "データ",
    "오류",
    "류확",
    "C++",
    "foo-bar",
    "a.b",
]


def contains(text: str, word: str) -> bool:
    """The oracle: whole words for letters, anywhere for scripts without spaces, letter by letter for signs."""
    folded, word = fold(text), fold(word)
    if not word.isascii():
        return word in folded
    head, tail = ("(?<![a-z0-9])" if word[0].isalnum() else ""), ("(?![a-z0-9])" if word[-1].isalnum() else "")
    return re.search(head + re.escape(word) + tail, folded) is not None


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SessionDB, dict[str, list[tuple[str, str]]]]]:
    rng = random.Random(5)
    db = SessionDB(tmp_path_factory.mktemp("oracle") / "state.db")
    said: dict[str, list[tuple[str, str]]] = {}
    for number in range(120):
        session = db.create(session_id=f"s{number}")
        said[session] = [
            (
                rng.choice(("user", "assistant")),
                rng.choice((" ", "，", "")).join(rng.choices(WORDS, k=rng.randrange(1, 7))),
            )
            for _ in range(3)
        ]
        db.append_many(session, [{"role": role, "content": text} for role, text in said[session]])  # type: ignore[typeddict-item]
    yield db, said
    db.close()


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    wanted=st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=2), min_size=1, max_size=3),
    unwanted=st.lists(st.sampled_from(WORDS), max_size=2),
    role=st.sampled_from(["", "user", "assistant"]),
)
def test_hits_equal_a_scan_of_all_messages(
    oracle: tuple[SessionDB, dict[str, list[tuple[str, str]]]],
    wanted: list[list[str]],
    unwanted: list[str],
    role: str,
) -> None:
    db, said = oracle
    query = " ".join(" OR ".join(clause) for clause in wanted)
    query += "".join(f" -{word}" for word in unwanted) + (f" role:{role}" if role else "")
    expected = {
        session: count
        for session, messages in said.items()
        if (
            count := sum(
                all(any(contains(text, word) for word in clause) for clause in wanted)
                and not any(contains(text, word) for word in unwanted)
                and role in ("", who)
                for who, text in messages
            )
        )
    }
    page = db.search(query + " ", limit=1000)
    assert {hit.session.id: hit.hit_count for hit in page.hits} == expected


def test_the_oracle_and_the_index_speak_of_the_same_version() -> None:
    """A change of the index's words needs a new version, or old stores would keep the old words."""
    assert INDEX_VERSION == 1


def test_found_lists_ids(oracle: tuple[SessionDB, dict[str, list[tuple[str, str]]]]) -> None:
    db, said = oracle
    assert set(found(db.search("alpha", limit=1000))) <= set(said)
