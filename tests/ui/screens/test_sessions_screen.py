import dataclasses
import time
from pathlib import Path

import pytest
from support.fake_engine import FakeEngine
from support.screens import Host, painted, until
from textual import events
from textual.pilot import Pilot

from hermes_tui.engine.types.errors import HermesError
from hermes_tui.engine.types.sessions import SessionRow, StoredMessage
from hermes_tui.screens import sessions_actions
from hermes_tui.screens.sessions import SessionChoice, SessionsScreen
from hermes_tui.screens.sessions_keys import ACTIONS
from hermes_tui.widgets.field import Field
from hermes_tui.widgets.hint_line import HintLine
from hermes_tui.widgets.preview import Preview
from hermes_tui.widgets.session_list import SessionList

HERE = "/p"


def row(number: int, title: str, cwd: str = HERE, **rest: object) -> SessionRow:
    at = time.time() - 60 * number
    return SessionRow(id=f"2026.09/{number} \u00e9", title=title, cwd=cwd, updated_at=at, created_at=at, **rest)  # type: ignore[arg-type]


ROWS = [
    row(0, "Alpha", model="org/model:1.5", turn_count=3, cost_usd=0.5),
    row(1, "Beta [b]bold[/b]"),
    row(2, "Gamma"),
    row(3, "Delta", cwd="/other"),
    row(4, "Delta", cwd="/other"),
]


def messages(*texts: str) -> list[StoredMessage]:
    roles = ("user", "assistant")
    return [StoredMessage(id=i, message={"role": roles[i % 2], "content": text}) for i, text in enumerate(texts)]  # type: ignore[typeddict-item]


class Browser:
    """An open browser with its engine."""

    def __init__(self, host: Host, pilot: Pilot[None], engine: FakeEngine, screen: SessionsScreen) -> None:
        self.host, self.pilot, self.engine, self.screen = host, pilot, engine, screen

    @property
    def titles(self) -> list[str]:
        return [item.row.title for item in self.screen.query_one(SessionList).items]

    @property
    def current(self) -> str:
        item = self.screen.query_one(SessionList).current
        return item.row.title if item else ""

    async def until(self, condition: object) -> None:
        await until(self.pilot, condition)  # type: ignore[arg-type]

    async def shows(self, words: str) -> None:
        await until(self.pilot, lambda: words in painted(self.host), words)


async def browse(
    host: Host, pilot: Pilot[None], engine: FakeEngine, cwd: str = HERE, current: str = "", query: str = ""
) -> Browser:
    screen = SessionsScreen(engine, cwd, current, query)  # type: ignore[arg-type]
    host.open(screen)
    await until(pilot, lambda: screen.is_mounted)
    await until(pilot, lambda: screen.query_one(SessionList).items or not engine.sessions, "rows")
    await pilot.pause()
    return Browser(host, pilot, engine, screen)


@pytest.fixture
def engine() -> FakeEngine:
    talk = messages("why is the sky blue", "Rayleigh scattering", "and the sea", "it mirrors the sky")
    return FakeEngine(ROWS, {ROWS[0].id: talk, ROWS[3].id: messages("the sky over there", "is the same sky")})


@pytest.mark.parametrize(
    ("keys", "choice"),
    [
        (["enter"], SessionChoice("resume", ROWS[0].id)),
        (["down", "enter"], SessionChoice("resume", ROWS[1].id)),
        (["tab", "down", "down", "enter"], SessionChoice("resume", ROWS[2].id)),
        (["tab", "end", "enter"], SessionChoice("resume", ROWS[2].id)),
        (["tab", "f"], SessionChoice("fork", ROWS[0].id)),
        (["tab", "o"], SessionChoice("resume", ROWS[0].id)),
        (["escape"], None),
        (["ctrl+r"], None),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
async def test_keys_choose_a_session(engine: FakeEngine, keys: list[str], choice: SessionChoice | None):
    host = Host()
    async with host.run_test(size=(120, 40)) as pilot:
        await browse(host, pilot, engine)
        await pilot.press(*keys)
        await until(pilot, lambda: host.results)
        assert host.results == [choice]


async def test_the_shell_is_there_before_the_rows(engine: FakeEngine):
    release = engine.hold("list_sessions")
    host = Host()
    async with host.run_test(size=(120, 40)) as pilot:
        screen = SessionsScreen(engine, HERE)  # type: ignore[arg-type]
        host.open(screen)
        await until(pilot, lambda: "Search everything" in painted(host))
        await pilot.press("x")
        assert screen.query_one("#search", Field).value == "x"
        release()


async def test_rows_say_what_there_is_to_know(engine: FakeEngine):
    engine.sessions[2] = dataclasses.replace(ROWS[2], updated_at=time.time() - 120)
    engine.sessions[0] = dataclasses.replace(
        ROWS[0], pinned=True, open_elsewhere=True, parent_reason="fork", end_reason="error"
    )
    host = Host()
    async with host.run_test(size=(140, 40)) as pilot:
        browser = await browse(host, pilot, engine)
        for words in (
            "Pinned", "Today", "Alpha", "model:1.5", "3 turns", "$0.50", "open elsewhere", "fork", "error",
            "Beta [b]bold[/b]", "2m",
        ):  # fmt: skip
            await browser.shows(words)
        assert "Delta" not in painted(host)


async def test_a_folder_without_sessions_shows_all(engine: FakeEngine):
    host = Host()
    async with host.run_test(size=(120, 40)) as pilot:
        browser = await browse(host, pilot, engine, cwd="/nothing/here")
        assert len(browser.titles) == 5
        await browser.shows("all folders")


async def test_t_switches_between_this_folder_and_all_and_s_sorts(engine: FakeEngine):
    host = Host()
    async with host.run_test(size=(120, 40)) as pilot:
        browser = await browse(host, pilot, engine)
        assert len(browser.titles) == 3
        await pilot.press("tab", "t")
        await browser.until(lambda: len(browser.titles) == 5)
        await pilot.press("t")
        await browser.until(lambda: len(browser.titles) == 3)
        await pilot.press("s", "s")
        await browser.shows("by title")
        assert [call[1] for call in engine.asked("list_sessions")][-2:] == ["created", "title"]


# Search and preview


async def test_typing_searches_and_shows_the_conversation_at_the_hit(engine: FakeEngine):
    host = Host()
    async with host.run_test(size=(140, 40)) as pilot:
        browser = await browse(host, pilot, engine)
        await pilot.press(*"sky")
        await browser.until(lambda: browser.titles == ["Alpha"])
        await browser.shows("2 hits")
        preview = browser.screen.query_one(Preview)
        await browser.until(lambda: preview.hit_message_id == 0)
        await pilot.press("tab", "n")
        await browser.until(lambda: preview.hit_message_id == 3)
        await pilot.press("N")
        await browser.until(lambda: preview.hit_message_id == 0)
        await pilot.press("n", "ctrl+enter")
        await browser.until(lambda: host.results == [SessionChoice("resume", ROWS[0].id, 3)])


async def test_n_goes_on_to_hits_that_are_not_loaded_yet():
    texts = [f"filler {number}" for number in range(300)]
    texts[10] = "needle one"
    texts[250] = "needle two"
    engine = FakeEngine([ROWS[0]], {ROWS[0].id: messages(*texts)})
    host = Host()
    async with host.run_test(size=(140, 40)) as pilot:
        browser = await browse(host, pilot, engine, query="needle")
        preview = browser.screen.query_one(Preview)
        await browser.until(lambda: preview.hit_message_id == 10)
        await pilot.press("tab", "n")
        await browser.until(lambda: preview.hit_message_id == 250)
        await browser.shows("needle two")
        await pilot.press("f")
        await browser.until(lambda: host.results == [SessionChoice("fork", ROWS[0].id, 250)])


async def test_a_search_without_hits_here_looks_everywhere(engine: FakeEngine):
    host = Host()
    async with host.run_test(size=(120, 40)) as pilot:
        browser = await browse(host, pilot, engine, query="there")
        assert browser.titles == ["Delta"]
        await browser.shows("all folders")
        await pilot.press("escape")
        await browser.until(lambda: len(browser.titles) == 3)
        await pilot.press(*"zzzz")
        await browser.shows("Nothing found")


async def test_a_slow_old_search_never_replaces_a_newer_one(engine: FakeEngine):
    release = engine.hold("sk")
    host = Host()
    async with host.run_test(size=(120, 40)) as pilot:
        browser = await browse(host, pilot, engine)
        await pilot.press(*"sk")
        await browser.until(lambda: ("sk",) in engine.asked("search"))
        await pilot.press("y", "space", "b")
        await browser.until(lambda: browser.titles == ["Alpha"])
        release()
        await pilot.press("backspace", "backspace", *"zzz")
        await browser.until(lambda: browser.titles == [])
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        assert browser.titles == []


async def test_fast_typing_asks_once(engine: FakeEngine):
    host = Host()
    async with host.run_test(size=(120, 40)) as pilot:
        browser = await browse(host, pilot, engine)
        for char in "why is the sky":
            host.post_message(events.Key("space" if char == " " else char, char))
        await browser.until(lambda: browser.titles == ["Alpha"])
        assert engine.asked("search") == [("why is the sky",)]


async def test_a_paste_of_many_lines_searches_as_one(engine: FakeEngine):
    host = Host()
    async with host.run_test(size=(120, 40)) as pilot:
        browser = await browse(host, pilot, engine)
        host.post_message(events.Paste("why is\nthe sky\n"))
        await browser.until(lambda: browser.titles == ["Alpha"])
        assert browser.screen.query_one("#search", Field).value == "why is the sky"


# Tidying


async def test_r_renames_in_place(engine: FakeEngine):
    host = Host()
    async with host.run_test(size=(120, 40)) as pilot:
        browser = await browse(host, pilot, engine)
        await pilot.press("down", "r")
        field = browser.screen.query_one("#rename", Field)
        await browser.until(lambda: field.has_focus)
        list_ = browser.screen.query_one(SessionList)
        assert field.region.y == list_.region.y + list_.row_of_cursor()
        host.post_message(events.Paste(" now\n"))
        await browser.until(lambda: field.value.endswith("now"))
        await pilot.press("enter")
        await browser.until(lambda: "Beta [b]bold[/b] now" in browser.titles or "Beta [b]bold[/b]now" in browser.titles)
        assert browser.screen.query_one(SessionList).has_focus


async def test_a_taken_title_is_told_and_escape_leaves_the_name(engine: FakeEngine):
    host = Host()
    async with host.run_test(size=(120, 40)) as pilot:
        browser = await browse(host, pilot, engine)
        await pilot.press("tab", "r", "x", "escape")
        await browser.until(lambda: browser.screen.query_one(SessionList).has_focus)
        assert engine.asked("rename_session") == []
        await pilot.press("r", *["backspace"] * 5, *"Gamma", "enter")
        await browser.shows("That title is taken")
        assert "Gamma (2)" in browser.titles


async def test_d_deletes_and_u_brings_back(engine: FakeEngine):
    host = Host()
    async with host.run_test(size=(120, 40)) as pilot:
        browser = await browse(host, pilot, engine)
        await pilot.press("down", "d")
        await browser.until(lambda: browser.titles == ["Alpha", "Gamma"])
        await browser.shows("u brings it back")
        await browser.until(lambda: engine.deleted)
        await pilot.press("u")
        await browser.until(lambda: browser.titles == ["Alpha", "Beta [b]bold[/b]", "Gamma"])
        assert not engine.deleted
        assert browser.current == "Beta [b]bold[/b]"


async def test_an_undo_right_after_the_delete_waits_for_it(engine: FakeEngine):
    release = engine.hold("delete_session")
    host = Host()
    async with host.run_test(size=(120, 40)) as pilot:
        browser = await browse(host, pilot, engine)
        await pilot.press("tab", "d", "u")
        await pilot.pause()
        assert engine.asked("undelete_session") == []
        release()
        await browser.until(lambda: engine.asked("undelete_session"))
        await browser.until(lambda: len(browser.titles) == 3)


async def test_the_undo_ends_after_its_time(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sessions_actions, "UNDO_S", 0.05)  # ten seconds in the product
    host = Host()
    async with host.run_test(size=(120, 40)) as pilot:
        browser = await browse(host, pilot, engine)
        await pilot.press("tab", "d")
        await browser.until(lambda: "brings it back" not in painted(host) and engine.deleted)
        await browser.until(lambda: not browser.screen._actions._deleted)
        await pilot.press("u")
        await browser.shows("nothing to undo")
        assert engine.asked("undelete_session") == []


@pytest.mark.parametrize("kept", ["here", "elsewhere"])
async def test_an_open_session_is_not_deleted(engine: FakeEngine, kept: str):
    if kept == "elsewhere":
        engine.sessions[0] = dataclasses.replace(ROWS[0], open_elsewhere=True)
    host = Host()
    async with host.run_test(size=(120, 40)) as pilot:
        browser = await browse(host, pilot, engine, current=ROWS[0].id if kept == "here" else "")
        await pilot.press("tab", "d")
        await browser.shows("is not deleted")
        assert engine.asked("delete_session") == []


async def test_a_delete_that_fails_shows_what_is_really_there(engine: FakeEngine):
    engine.errors["delete_session"] = HermesError("The database is read-only.")
    host = Host()
    async with host.run_test(size=(120, 40)) as pilot:
        browser = await browse(host, pilot, engine)
        await pilot.press("tab", "d")
        await browser.until(lambda: engine.asked("delete_session") and len(browser.titles) == 3)
        assert "read-only" in " ".join(note.message for note in host._notifications)


async def test_several_sessions_are_marked_and_changed_together(engine: FakeEngine):
    host = Host()
    async with host.run_test(size=(120, 40)) as pilot:
        browser = await browse(host, pilot, engine)
        await pilot.press("tab", "space", "space")
        await browser.shows("\u2713 Alpha")
        await pilot.press("p")
        await browser.until(lambda: [row.pinned for row in engine.sessions[:3]] == [True, True, False])
        await browser.until(lambda: "\u2605 Alpha" in painted(host))


async def test_a_archives_and_capital_a_shows_the_archived_ones(engine: FakeEngine):
    host = Host()
    async with host.run_test(size=(120, 40)) as pilot:
        browser = await browse(host, pilot, engine)
        await pilot.press("tab", "a")
        await browser.until(lambda: browser.titles == ["Beta [b]bold[/b]", "Gamma"] and engine.sessions[0].archived)
        await pilot.press("A")
        await browser.until(lambda: browser.titles == ["Alpha"])
        await pilot.press("a")
        await browser.until(lambda: not engine.sessions[0].archived)


async def test_e_writes_a_private_file_and_never_over_another(tmp_path: Path):
    engine = FakeEngine([dataclasses.replace(row(0, "Alpha"), id="s1", cwd=str(tmp_path))])
    (tmp_path / "session-s1.md").write_text("mine")
    host = Host()
    async with host.run_test(size=(120, 40)) as pilot:
        browser = await browse(host, pilot, engine, cwd=str(tmp_path))
        await pilot.press("tab", "e")
        await browser.shows("Wrote")
        written = tmp_path / "session-s1-2.md"
        assert written.read_text() == "# s1\n"
        assert written.stat().st_mode & 0o077 == 0
        assert (tmp_path / "session-s1.md").read_text() == "mine"


async def test_letters_search_in_the_field_and_act_in_the_list(engine: FakeEngine):
    host = Host()
    async with host.run_test(size=(120, 40)) as pilot:
        browser = await browse(host, pilot, engine)
        await pilot.press("d")
        assert browser.screen.query_one("#search", Field).value == "d"
        assert engine.asked("delete_session") == []
        await pilot.press("backspace", "tab", "slash", "x")
        assert browser.screen.query_one("#search", Field).value == "x"
        await pilot.press("backspace", "tab", "up", "y")
        assert browser.screen.query_one("#search", Field).value == "y"


async def test_question_mark_shows_all_keys_and_escape_comes_back(engine: FakeEngine):
    host = Host()
    async with host.run_test(size=(120, 40)) as pilot:
        browser = await browse(host, pilot, engine)
        await pilot.press("tab", "question_mark")
        await browser.shows("Rename in place")
        await pilot.press("escape")
        await browser.until(lambda: host.screen is browser.screen)
        assert host.results == []


# Size


async def test_twenty_thousand_sessions_are_walked_to_the_end():
    rows = [row(number, f"Session {number}") for number in range(20_000)]
    engine = FakeEngine(rows)
    host = Host()
    async with host.run_test(size=(120, 40)) as pilot:
        browser = await browse(host, pilot, engine)
        assert len(browser.titles) < 1000
        assert len(list(host.screen.walk_children())) < 20
        await pilot.press("tab")
        for _ in range(60):
            await pilot.press("end")
            if browser.current == "Session 19999":
                break
        assert browser.current == "Session 19999"
        assert len(engine.asked("list_sessions")) < 20


async def test_without_room_the_preview_is_one_key_away(engine: FakeEngine):
    host = Host()
    async with host.run_test(size=(40, 12)) as pilot:
        browser = await browse(host, pilot, engine)
        preview = browser.screen.query_one(Preview)
        assert not preview.display
        await pilot.press("tab", "v")
        await browser.until(lambda: preview.display and "Rayleigh" in painted(host))
        await pilot.press("v")
        await browser.until(lambda: not preview.display)


@pytest.mark.parametrize("size", [(1, 1), (20, 5), (500, 60)])
async def test_extreme_sizes_do_no_harm_to_the_browser(engine: FakeEngine, size: tuple[int, int]):
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        browser = await browse(host, pilot, engine, query="sky")
        await pilot.resize_terminal(*size)
        await pilot.press("tab", "n", "down")
        await pilot.resize_terminal(80, 24)
        await browser.shows("Alpha")


# Palette and mouse


async def test_the_palette_does_all_that_keys_do(engine: FakeEngine):
    host = Host()
    async with host.run_test(size=(120, 40)) as pilot:
        browser = await browse(host, pilot, engine)
        await pilot.press("down", "ctrl+p")
        await browser.shows("Session actions")
        await pilot.press(*"pin or", "enter")
        await browser.until(lambda: engine.sessions[1].pinned)
        assert host.screen is browser.screen
        named = {action.action.partition("(")[0] for action in ACTIONS}
        assert all(hasattr(browser.screen, f"action_{name}") for name in named)


async def test_the_field_has_the_palette_too_and_escape_leaves_it(engine: FakeEngine):
    host = Host()
    async with host.run_test(size=(120, 40)) as pilot:
        browser = await browse(host, pilot, engine)
        await pilot.press("ctrl+p")
        await browser.shows("Session actions")
        await pilot.press("escape")
        await browser.until(lambda: host.screen is browser.screen)
        assert browser.screen.query_one("#search", Field).has_focus


async def test_everything_works_by_mouse(engine: FakeEngine):
    host = Host()
    async with host.run_test(size=(140, 40)) as pilot:
        browser = await browse(host, pilot, engine)
        place = browser.screen.query_one(SessionList).cursor * 2
        await pilot.click(SessionList, offset=(5, place + 2))
        await browser.until(lambda: browser.current == "Beta [b]bold[/b]")
        await pilot.click(SessionList, offset=(5, place + 4), button=3)
        await browser.shows("Session actions")
        assert browser.current == "Gamma"
        await pilot.press(*"archive or", "enter")
        await browser.until(lambda: engine.sessions[2].archived)
        hints = browser.screen.query_one(HintLine)
        text = hints.render().plain
        await pilot.click(HintLine, offset=(text.index("d delete"), 0))
        await browser.until(lambda: browser.titles == ["Alpha"])
        await pilot.click(HintLine, offset=(text.index("/ search"), 0))
        await browser.until(lambda: browser.screen.query_one("#search", Field).has_focus)
        await pilot.click(SessionList, offset=(5, place))
        await browser.until(lambda: host.results == [SessionChoice("resume", ROWS[0].id)])


async def test_two_deletes_are_undone_one_after_the_other(engine: FakeEngine):
    host = Host()
    async with host.run_test(size=(120, 40)) as pilot:
        browser = await browse(host, pilot, engine)
        await pilot.press("tab", "d", "d")
        await browser.until(lambda: browser.titles == ["Gamma"] and len(engine.deleted) == 2)
        await pilot.press("u")
        await browser.until(lambda: browser.titles == ["Beta [b]bold[/b]", "Gamma"])
        await pilot.press("u")
        await browser.until(lambda: len(browser.titles) == 3 and not engine.deleted)


async def test_capital_m_marks_all_that_are_listed_and_the_number_is_told(engine: FakeEngine, tmp_path: Path):
    host = Host()
    async with host.run_test(size=(120, 40)) as pilot:
        browser = await browse(host, pilot, engine)
        await pilot.press("tab", "M")
        await browser.shows("3 marked")
        await pilot.press("M")
        await browser.until(lambda: "marked" not in painted(host))
        await pilot.press("space")
        await browser.shows("1 marked")
        await pilot.press("t")  # other rows: the marked one is among them
        await browser.until(lambda: len(browser.titles) == 5)
        await browser.shows("1 marked")
        await pilot.press("M", "a")
        await browser.until(lambda: all(row.archived for row in engine.sessions))
        await browser.until(lambda: "marked" not in painted(host))


@pytest.mark.parametrize("fmt", ["json", "html"])
async def test_a_session_is_exported_in_every_format(tmp_path: Path, fmt: str):
    engine = FakeEngine([dataclasses.replace(row(0, "Alpha"), id="s1", cwd=str(tmp_path))])
    host = Host()
    async with host.run_test(size=(120, 40)) as pilot:
        browser = await browse(host, pilot, engine, cwd=str(tmp_path))
        await pilot.press("ctrl+p", *f"to an {fmt}" if fmt == "html" else f"to a {fmt}", "enter")
        await browser.shows("Wrote")
        assert engine.asked("export_session") == [("s1", fmt)]
        assert (tmp_path / f"session-s1.{fmt}").exists()
