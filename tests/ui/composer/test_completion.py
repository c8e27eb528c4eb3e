from pathlib import Path

import pytest
from support.prompt_app import PromptApp, rows_of, write
from support.screens import until
from textual.widgets import Static

from hermes_tui.widgets.completion import CompletionPopup
from hermes_tui.widgets.completion_source import Token, command_candidates, find_token
from hermes_tui.widgets.composer import Composer
from hermes_tui.widgets.composer_commands import CommandRow


@pytest.mark.parametrize(
    ("row", "line", "expected"),
    [
        (0, "/", Token("command", 0, "")),
        (0, "/mod", Token("command", 0, "mod")),
        (1, "/mod", None),
        (0, "/home/user", None),
        (0, "//", None),
        (0, "/model x", None),
        (0, "say /mod", None),
        (0, "@", Token("file", 0, "")),
        (3, "see @src/a", Token("file", 4, "src/a")),
        (0, "(@a", Token("file", 1, "a")),
        (0, "see @src/a.py:10-2", Token("file", 4, "src/a.py")),
        (0, 'see @"my fi', Token("file", 4, "my fi")),
        (0, "me@example.org", None),
        (0, "see @a.py now", None),
        (0, "plain", None),
    ],
)
def test_the_token_at_the_caret(row, line, expected):
    assert find_token(row, line, len(line)) == expected


def test_commands_are_ranked_by_name_and_show_their_arguments():
    rows = command_candidates(
        "m", [CommandRow("help", "", "x"), CommandRow("model", "[m]", "x"), CommandRow("mem", "", "x")]
    )
    assert [(row.label, row.hint) for row in rows] == [("/mem", ""), ("/model", "[m]")]


def popup_of(app: PromptApp) -> CompletionPopup:
    return app.screen.query_one(CompletionPopup)


async def test_the_list_hangs_over_the_prompt_and_moves_nothing():
    app = PromptApp()
    async with app.run_test(size=(60, 20)) as pilot:
        before = app.query_one("#above", Static).region
        await write(pilot, "/m")
        await pilot.pause()
        popup = popup_of(app)
        assert popup.region.bottom == app.composer.region.y
        assert app.query_one("#above", Static).region == before
        assert app.focused is app.composer
        assert any("/model [provider/model]" in row and "Choose a model." in row for row in rows_of(app))


@pytest.mark.parametrize(
    ("keys", "text", "sent"),
    [
        (["tab"], "/model ", []),
        (["down", "tab"], "/memory", []),
        (["up", "tab"], "/memory", []),
        (["enter"], "", ["/model"]),
        (["down", "enter"], "", ["/memory"]),
        (["escape", "enter"], "", ["/m"]),
    ],
)
async def test_choosing_a_command(keys, text, sent):
    app = PromptApp()
    async with app.run_test() as pilot:
        await write(pilot, "/m")
        await pilot.press(*keys)
        assert (app.composer.text, app.sent) == (text, sent)
        assert not popup_of(app).display


async def test_a_command_that_needs_words_waits_for_them():
    app = PromptApp()
    async with app.run_test() as pilot:
        await write(pilot, "/ste")
        await pilot.press("enter")
        assert (app.composer.text, app.sent) == ("/steer ", [])
        await pilot.pause()
        assert any("/steer text" in row for row in rows_of(app))


async def test_escape_closes_the_list_first_and_keeps_it_closed_for_that_word():
    app = PromptApp()
    async with app.run_test() as pilot:
        await write(pilot, "/m")
        await pilot.press("escape")
        assert app.all(Composer.Escape) == []
        assert not popup_of(app).display
        await pilot.press("escape")
        assert len(app.all(Composer.Escape)) == 1
        await write(pilot, "o")
        assert popup_of(app).display


async def test_a_file_is_found_and_inserted_with_its_lines(tmp_path: Path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src/Result.py").write_text("x")
    (tmp_path / "my notes.txt").write_text("x")
    app = PromptApp(root=tmp_path)
    async with app.run_test() as pilot:
        await write(pilot, "see @resul:3-9")
        await until(pilot, lambda: app.composer._completion.current, "files")
        await pilot.press("tab")
        assert app.composer.text == "see @src/Result.py:3-9 "
        await write(pilot, "@notes")
        await until(pilot, lambda: app.composer._completion.current, "files")
        await pilot.press("enter")
        assert app.composer.text == 'see @src/Result.py:3-9 @"my notes.txt" '
        assert app.sent == []


async def test_a_word_that_no_file_fits_says_so_and_enter_still_sends(tmp_path: Path):
    app = PromptApp(root=tmp_path)
    async with app.run_test() as pilot:
        await write(pilot, "@zzz")
        await until(pilot, lambda: any("no file here matches" in row for row in rows_of(app)), "the note")
        await pilot.press("enter")
        assert app.sent == ["@zzz"]


async def test_a_row_can_be_clicked():
    app = PromptApp()
    async with app.run_test() as pilot:
        await write(pilot, "/m")
        await pilot.pause()
        await pilot.click(CompletionPopup, offset=(3, 1))
        assert app.composer.text == "/memory"
        assert app.focused is app.composer


async def test_a_long_list_scrolls_and_fits_a_low_screen():
    app = PromptApp()
    async with app.run_test(size=(40, 7)) as pilot:
        app.composer.set_commands([(f"cmd{number:02}", "", "Does a thing.", "x") for number in range(40)])
        await write(pilot, "/")
        await pilot.press(*["down"] * 20)
        await pilot.pause()
        assert popup_of(app).region.y >= 0
        assert any("/cmd20" in row for row in rows_of(app))


async def test_names_from_outside_cannot_draw_on_the_screen():
    app = PromptApp()
    async with app.run_test() as pilot:
        app.composer.set_history(["bad \x1b[2J \u202e text"])
        await pilot.press("alt+r")
        await pilot.pause()
        assert not any("\x1b" in row or "\u202e" in row for row in rows_of(app))
