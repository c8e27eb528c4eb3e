"""What people type is found: words, phrases, signs, every script, filters; nothing raises."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from support.store import assistant, found, talk, user

from hermes_tui.engine.store.db import SessionDB
from hermes_tui.engine.types.messages import Message

CORPUS = {
    "book": "the wrong-book was sent by chat-send -foo",
    "version": "python 3.12.1 on ubuntu 20.04 runs app.py in /src/main.py",
    "signs": "mail user@example.com about #tag where a=b is 50% or 100% [ERR] why? C++ and C# x\\y it's a,b",
    "nearly": "100 percent axb C plain it is 312 1 user example com err tag",
    "phrase": "this is the exact phrase, and\nmore of it",
    "words": "exact is not a phrase here; foo content NEAR AND OR NOT",
    "chinese": "今天讨论了数据库连接超时的原因",
    "morning": "明早九点开会，使用AI大模型训练",
    "korean": "로그인오류확인 작업을 했다",
    "japanese": "データベースの接続がタイムアウトした。ｶﾅもある",
    "thai": "ระบบฐานข้อมูลล้มเหลว",
    "emoji": "done 🎉👨‍👩‍👧 ship it ✓",
    "accents": "Café Übergröße naïve ÀÉÎ Ｆｕｌｌ ｗｉｄｔｈ Привет МИР",
    "deploy": "deployment deployed deploying depth",
    "rare ideograph": "𠮷野家 と 㐂",
    "underscore": "a_b snake_case_name __init__",
    "dots": "a.b/c:d and a.b c:d",
    "json": '{"output":"first\\nsecond 中文 \\u4e2d\\u56fd"}',
}

CASES: list[tuple[str, set[str]]] = [
    ("wrong-book", {"book"}),
    ("chat-send", {"book"}),
    ("-foo", {"book"}),
    ("exact -phrase", set()),
    ("exact -more", {"words"}),
    ("exact NOT more", {"words"}),
    ('is -"exact phrase" exact', {"words"}),
    ("3.12.1", {"version"}),
    ("app.py", {"version"}),
    ("/src/main.py", {"version"}),
    ("ubuntu 20.04", {"version"}),
    ("user@example.com", {"signs"}),
    ("#tag", {"signs"}),
    ("a=b", {"signs"}),
    ("50%", {"signs"}),
    ("100%", {"signs"}),
    ("[ERR]", {"signs"}),
    ("why?", {"signs"}),
    ("C++", {"signs"}),
    ("c#", {"signs"}),
    ("x\\y", {"signs"}),
    ("it's", {"signs"}),
    ("a,b", {"signs"}),
    ("%", {"signs"}),
    ("\\", {"signs"}),
    ("@", {"signs"}),
    ("C", {"signs", "nearly", "dots"}),
    ('"exact phrase"', {"phrase"}),
    ('"phrase and more"', {"phrase"}),
    ("exact phrase", {"phrase", "words"}),
    ("\u201cexact phrase\u201d", {"phrase"}),
    ('"exact phr', set()),
    ('phrase "and mor', set()),
    ('phrase "and more', {"phrase"}),
    ('"', set()),
    ('""', set()),
    ("foo AND", {"book", "words"}),
    ("foo AND NOT content", {"book"}),
    ("AND OR", {"words", "signs"}),
    ("NOT NOT korean", set()),
    ("content:foo", set()),
    ("nosuch:foo", set()),
    ("NEAR(", set()),
    ("near", {"words"}),
    ("NEAR(foo bar, x)", set()),
    ("^foo", set()),
    ("*foo", set()),
    ("{content}:foo", set()),
    ("+", {"signs"}),
    ("wrong OR plain", {"book", "nearly"}),
    ("plain | wrong", set()),
    ("sent OR plain foo", {"book"}),
    ("deplo*", {"deploy"}),
    ("de*", {"deploy"}),
    ("d*", {"dots"}),
    ("deploy ", set()),
    ("deployed deploy*", {"deploy"}),
    ("DEPLOYED", {"deploy"}),
    ("连接超时", {"chinese"}),
    ("数据库 超时", {"chinese"}),
    ("数据库 -超时", set()),
    ("天", {"chinese"}),
    ("明早", {"morning"}),
    ("早九", {"morning"}),
    ("早开", set()),
    ("使用AI", {"morning"}),
    ("AI大模型", {"morning"}),
    ("ai 大模型训练", {"morning"}),
    ("AI AND 大模型训练", {"morning"}),
    ("明早 OR 连接", {"morning", "chinese"}),
    ("オータ", set()),
    ("タイム", {"japanese"}),
    ("カナ", {"japanese"}),
    ("の", {"japanese"}),
    ("오류확인", {"korean"}),
    ("인", {"korean"}),
    ("작업", {"korean"}),
    ("ฐานข้อมูล", {"thai"}),
    ("🎉", {"emoji"}),
    ("👨‍👩‍👧", {"emoji"}),
    ("done 🎉", {"emoji"}),
    ("done -🎉", set()),
    ("✓", {"emoji"}),
    ("𠮷", {"rare ideograph"}),
    ("𠮷野", {"rare ideograph"}),
    ("cafe", {"accents"}),
    ("ubergroße", {"accents"}),
    ("ＣＡＦÉ", {"accents"}),
    ("full width", {"accents"}),
    ("привет мир", {"accents"}),
    ("пр*", {"accents"}),
    ("a_b", {"underscore"}),
    ("snake_case", {"underscore"}),
    ("snake_ca*", {"underscore"}),
    ("__init__", {"underscore"}),
    ("a.b/c:d", {"dots"}),
    ('"a.b c:d"', {"dots"}),
    ("second 中文", {"json"}),
    ("nsecond", set()),
    ("中国", {"json"}),
    ("中文*", {"json"}),
    ("(exact", {"phrase", "words"}),
    ("phrase,", {"phrase", "words"}),
]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SessionDB]:
    db = SessionDB(tmp_path_factory.mktemp("corpus") / "state.db")
    for name, text in CORPUS.items():
        db.create(session_id=name)
        message: Message = {"role": "tool" if name == "json" else "user", "content": text}
        db.append(name, message)
    yield db
    db.close()


@pytest.mark.parametrize(("query", "expected"), CASES, ids=[query for query, _ in CASES])
def test_a_query_finds_exactly_these(corpus: SessionDB, query: str, expected: set[str]) -> None:
    assert set(found(corpus.search(query, limit=100))) == expected


@pytest.mark.parametrize("query", ["deplo", "exact phr", "snake_ca", "-more phr"])
def test_a_word_that_is_still_being_typed_finds_its_beginnings_and_says_so(corpus: SessionDB, query: str) -> None:
    page = corpus.search(query)
    assert page.hits
    assert "begin with it" in page.note


@pytest.mark.parametrize("query", ["deplo ", '"deplo"', "exact -phr", "d", "zzz", "role:user zz", "库存"])
def test_a_finished_word_that_nobody_said_finds_nothing(corpus: SessionDB, query: str) -> None:
    assert "begin with it" not in corpus.search(query).note


@pytest.mark.parametrize("query", ["", "   ", "\t", "\n", "\0"])
def test_a_blank_query_lists_recent_sessions(corpus: SessionDB, query: str) -> None:
    assert len(corpus.search(query, limit=100).hits) == len(CORPUS)
    first = corpus.search(query, limit=10)
    second = corpus.search(query, limit=10, cursor=first.cursor)
    assert (len(first.hits), len(second.hits), second.cursor) == (10, len(CORPUS) - 10, "")


@pytest.mark.parametrize("query", ["exact phrase", "数据库", "cafe", "C++", "deplo*", "🎉", "full"])
def test_marks_cover_the_hit(corpus: SessionDB, query: str) -> None:
    snippet = corpus.search(query).hits[0].snippets[0]
    marked = {snippet.text[start:end] for start, end in snippet.marks}
    expected = {"exact phrase": "exact", "cafe": "Café", "deplo*": "deployment", "full": "Ｆｕｌｌ"}.get(query, query)
    assert expected in marked


def test_a_snippet_of_a_long_text_is_around_the_hit(db: SessionDB) -> None:
    session = db.create()
    talk(db, session, "word " * 4000 + "needle here\nand " + "word " * 4000)
    (snippet,) = db.search("needle").hits[0].snippets
    assert "needle here and word" in snippet.text
    assert len(snippet.text) < 210
    assert [snippet.text[start:end] for start, end in snippet.marks] == ["needle"]


FILTERED: list[tuple[str, set[str]]] = [
    ("role:user", {"A", "B"}),
    ("role:tool failed", {"A"}),
    ("role:user failed", set()),
    ("-role:tool error", {"B"}),
    ("tool:terminal", {"A"}),
    ("tool:web_search", {"B"}),
    ("tool:TERMINAL tool:web_search", {"A", "B"}),
    ("has:error", {"A"}),
    ("-has:error", {"A", "B", "C"}),
    ("-has:error failed", set()),
    ("source:run", {"B"}),
    ("source:gateway ship", {"C"}),
    ("-source:run question", {"A"}),
    ("cwd:/work/api question", {"A"}),
    ("cwd:/work", {"A", "B"}),
    ("cwd:/wor", set()),
    ("cwd:api", {"A"}),
    ("cwd:100%", set()),
    ("model:opus", {"A"}),
    ("model:openai/", {"B"}),
    ("title:payment", {"A"}),
    ('title:"payment bug" question', {"A"}),
    ("before:2024-02 question", {"A"}),
    ("after:2024-02 question", {"B"}),
    ("after:2024 before:2024-02 question", {"A"}),
    ("before:2024", set()),
    ("after:1d", {"C"}),
    ("-after:1d question", {"A", "B"}),
    ("role:nobody", set()),
    ("before:soon", set()),
    ("has:nothing", set()),
    ("支付 role:user", {"B"}),
    ("支付 role:tool", set()),
    ("支 source:run", {"B"}),
    ("支付 -source:run", set()),
    ("C++ role:assistant", {"B"}),
    ("C++ role:user", set()),
]


@pytest.fixture(scope="module")
def filtered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SessionDB]:
    db = SessionDB(tmp_path_factory.mktemp("filtered") / "state.db")
    db.create(
        "The payment bug", source="tui", cwd="/work/api", model="claude-opus", provider="anthropic", session_id="A"
    )
    db.create(source="run", cwd="/work/web", model="gpt-5", provider="openai", session_id="B")
    db.create(source="gateway:telegram", session_id="C")
    january, march = time.mktime((2024, 1, 15, 12, 0, 0, 0, 0, -1)), time.mktime((2024, 3, 15, 12, 0, 0, 0, 0, -1))
    call = {"id": "1", "type": "function", "function": {"name": "web_search", "arguments": "{}"}}
    db.append_many(
        "A",
        [
            {"role": "user", "content": "a question", "created_at": january},
            {"role": "tool", "content": '{"error":"it failed"}', "tool_name": "terminal", "created_at": january},
        ],
    )
    db.append_many(
        "B",
        [
            {"role": "user", "content": "question about 支付 error", "created_at": march},
            {"role": "assistant", "content": "in C++", "tool_calls": [call], "created_at": march},  # type: ignore[list-item]
        ],
    )
    db.append("C", {"role": "assistant", "content": "ship it"})
    db._db.write(
        lambda conn: conn.execute("UPDATE sessions SET updated_at = ? WHERE id IN ('A', 'B')", (march,)).rowcount
    )
    yield db
    db.close()


@pytest.mark.parametrize(("query", "expected"), FILTERED, ids=[query for query, _ in FILTERED])
def test_filters_hold_on_every_path(filtered: SessionDB, query: str, expected: set[str]) -> None:
    assert set(found(filtered.search(query))) == expected


def test_a_search_can_be_limited_to_a_folder(filtered: SessionDB) -> None:
    assert found(filtered.search("question", cwd="/work/web")) == ["B"]
    assert found(filtered.search("", cwd="/work/web")) == ["B"]
    assert found(filtered.search("question", cwd="/nowhere")) == []


def test_a_search_in_one_session_includes_its_shared_past_only(db: SessionDB) -> None:
    parent = db.create()
    ids = talk(db, parent, "needle one", "a", "needle two", "b")
    fork = db.fork(parent, ids[1])
    talk(db, fork, "needle three")
    subagent = db.create(parent=fork)
    talk(db, subagent, "needle four")
    talk(db, db.create(), "needle elsewhere")
    (hit,) = db.search("needle", session_id=fork).hits
    assert (hit.session.id, hit.hit_count) == (fork, 3)
    assert {snippet.text for snippet in hit.snippets} == {"needle one", "needle three", "needle four"}
    assert db.search("two", session_id=fork).hits == ()


def test_titles_come_first_then_better_then_newer(db: SessionDB) -> None:
    weak, strong, titled = db.create(), db.create(), db.create(title="Postgres tuning")
    talk(db, weak, "postgres " + "and much else " * 40)
    talk(db, strong, "postgres postgres", "postgres")
    talk(db, titled, "unrelated")
    page = db.search("postgres")
    assert found(page) == [titled, strong, weak]
    assert page.hits[0].title_marks == ((0, 8),)
    assert [hit.hit_count for hit in page.hits] == [0, 2, 1]
    twins = [db.create() for _ in range(2)]
    for at, session in enumerate(twins):
        db.append(session, {"role": "user", "content": "equal text", "created_at": 1e9 + at})
    assert found(db.search("equal")) == twins[::-1]


def test_pages_together_give_every_session_once(db: SessionDB) -> None:
    sessions = [db.create(title="common title" if n % 7 == 0 else None) for n in range(40)]
    for session in sessions:
        talk(db, session, "common words", "common answer")
    seen: list[str] = []
    cursor = ""
    while True:
        page = db.search("common", limit=7, cursor=cursor)
        seen += found(page)
        talk(db, db.create(), "common newcomer")
        cursor = page.cursor
        if not cursor:
            break
    assert sorted(seen[:40]) == sorted(sessions)
    assert len(seen) == len(set(seen))


def test_pages_go_on_past_a_window(db: SessionDB, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hermes_tui.engine.store.windows.WINDOW_ROWS", 10)  # a real window needs thousands of rows
    sessions = [db.create() for _ in range(12)]
    for round_ in range(3):
        for session in sessions:
            talk(db, session, f"common {round_}", "a_b common")
    for query in ("common", "a_b"):
        seen: list[str] = []
        page = db.search(query, limit=5)
        seen += found(page)
        while page.cursor:
            page = db.search(query, limit=5, cursor=page.cursor)
            seen += found(page)
        assert sorted(seen) == sorted(sessions)


@pytest.mark.parametrize("cursor", ["x", "1", "1.2", "9.9.9", "-1.0.0", "1.1.999999999999999999999", "\0", "a.b.c"])
def test_an_odd_cursor_is_no_error(corpus: SessionDB, cursor: str) -> None:
    corpus.search("exact", cursor=cursor)


def test_archived_sessions_are_found(db: SessionDB) -> None:
    session = db.create()
    talk(db, session, "needle")
    db.archive(session)
    assert found(db.search("needle")) == [session]


def test_what_an_interrupted_answer_said_and_what_a_call_asked_for_is_found(db: SessionDB) -> None:
    session = db.create()
    call = {
        "id": "1",
        "type": "function",
        "function": {"name": "terminal", "arguments": '{"command":"make\\nrelease"}'},
    }
    db.append(session, {"role": "assistant", "content": None, "partial": "half spoken", "tool_calls": [call]})  # type: ignore[list-item]
    db.append_many(session, [user("x"), assistant("y")])
    for query in ("spoken", "release", "terminal make"):
        assert found(db.search(query)) == [session]


def test_a_note_says_what_was_ignored(db: SessionDB) -> None:
    talk(db, db.create(), "foo")
    assert "AND" in db.search("foo AND").note
    assert "48" in db.search(" ".join(f"w{n}" for n in range(60))).note
    assert db.search('""').note
