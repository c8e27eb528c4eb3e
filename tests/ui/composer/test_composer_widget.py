from pathlib import Path

import pytest
from support.prompt_app import PromptApp, paste, rows_of, write
from support.screens import until
from textual import events
from textual.document._document import Selection

from hermes_tui.theming import load_theme
from hermes_tui.widgets.composer import Composer

FAMILY = "👩‍👩‍👧‍👧"


async def test_enter_sends_and_empties_the_prompt():
    app = PromptApp()
    async with app.run_test() as pilot:
        await write(pilot, "hi there")
        await pilot.press("enter")
        (sent,) = app.all(Composer.Submitted)
        assert (sent.text, sent.mode, sent.kind, sent.attachments) == ("hi there", "send", "message", ())
        assert app.composer.text == ""


async def test_a_blank_prompt_is_not_sent():
    app = PromptApp()
    async with app.run_test() as pilot:
        await write(pilot, "  ")
        await pilot.press("enter")
        assert app.sent == []
        assert app.composer.text == "  "


@pytest.mark.parametrize("key", ["shift+enter", "ctrl+j", "alt+enter"])
async def test_these_keys_start_a_new_line(key):
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press("a", key, "b", "enter")
        assert app.sent == ["a\nb"]


async def test_alt_enter_steers_while_a_turn_runs():
    app = PromptApp()
    async with app.run_test() as pilot:
        app.composer.busy = True
        await pilot.press("a", "alt+enter")
        assert [message.mode for message in app.all(Composer.Submitted)] == ["steer"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [("!ls", "shell"), ("#note", "note"), ("/help", "command"), ("/etc", "message"), ("/home/x y", "message")],
)
async def test_what_is_sent_says_its_kind(text, kind):
    app = PromptApp()
    async with app.run_test() as pilot:
        await write(pilot, text)
        await pilot.press("enter")
        assert [(message.text, message.kind) for message in app.all(Composer.Submitted)] == [(text, kind)]


async def test_it_grows_to_ten_lines_and_then_scrolls():
    app = PromptApp()
    async with app.run_test(size=(60, 30)) as pilot:
        frame = app.composer.outer_size.height - 1
        for count in (2, 10, 14):
            app.composer.set_value("")
            app.composer.replace_all("\n".join("x" * count))
            await pilot.pause()
            assert app.composer.outer_size.height - frame == min(count, 10)
        assert any("❯" not in row and "x" in row for row in rows_of(app))
        assert app.composer.scroll_offset.y == 4


@pytest.mark.parametrize(("height", "rows"), [(24, 10), (12, 4), (6, 1)])
async def test_on_a_low_screen_it_leaves_room_and_keeps_the_caret_in_view(height, rows):
    app = PromptApp()
    async with app.run_test(size=(40, height)) as pilot:
        await write(pilot, "\n".join("abcdefghijklmn"))
        await pilot.pause()
        assert app.composer.content_size.height == rows
        assert any("n" in row for row in rows_of(app))
        assert app.screen.max_scroll_y == 0


async def test_a_plain_prompt_has_no_box():
    app = PromptApp()
    app.widgets = (Composer("Ask", plain=True),)
    async with app.run_test(size=(40, 8)):
        assert rows_of(app)[-1].strip() == "> Ask"


async def test_a_click_puts_the_caret_before_the_character_under_the_pointer():
    app = PromptApp()
    async with app.run_test() as pilot:
        app.composer.insert_text("漢字👩‍👩‍👧‍👧x")
        await pilot.click(Composer, offset=(2 + 2 + 6, 1))
        assert app.composer.cursor_location == (0, 2 + len(FAMILY))


async def test_a_key_lays_nothing_out_and_redraws_one_row():
    app = PromptApp()
    async with app.run_test(size=(60, 20)) as pilot:
        await write(pilot, "first\nsecond")
        layouts, drawn = [], []
        app.screen.screen_layout_refresh_signal.subscribe(app.composer, layouts.append)
        draw = app.composer.render_line
        app.composer.render_line = lambda y: drawn.append(y) or draw(y)
        await pilot.press("x")
        assert set(drawn) == {1}
        assert layouts == []
        await pilot.press("ctrl+j")
        await until(pilot, lambda: layouts, "a layout for the new line")


async def test_a_key_is_on_the_screen_when_its_handler_is_done():
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.pause()
        shown = []
        app._display = lambda screen, update: shown.append(update)
        app.composer._replace_via_keyboard("x", *app.composer.selection)
        assert len(shown) == 1


async def test_the_terminal_cursor_is_at_the_caret_also_when_the_prompt_moves():
    app = PromptApp()
    async with app.run_test(size=(60, 20)) as pilot:
        await write(pilot, "漢字x")
        assert app.cursor_position == (app.composer.content_region.x + 2 + 5, app.composer.content_region.y)
        await pilot.press("ctrl+j")
        await pilot.pause()
        assert app.cursor_position == (app.composer.content_region.x + 2, app.composer.content_region.y + 1)
        app.widgets[0].styles.margin = (0, 0, 3, 0)
        await until(pilot, lambda: app.cursor_position.y == app.composer.content_region.y + 1, "cursor follows")


@pytest.mark.parametrize("grapheme", ["é", "e\u0301", "❤️", FAMILY, "🇨🇭", "👍🏽", "漢", "a"])
async def test_the_caret_steps_over_what_a_reader_sees_as_one(grapheme):
    app = PromptApp()
    async with app.run_test() as pilot:
        app.composer.insert_text(f"a{grapheme}b")
        await pilot.press("left", "left")
        assert app.composer.cursor_location == (0, 1)
        await pilot.press("right")
        assert app.composer.cursor_location == (0, 1 + len(grapheme))
        await pilot.press("backspace")
        assert app.composer.text == "ab"


@pytest.mark.parametrize("text", ["❤️ x", "☺️|", f"{FAMILY}b", "🇨🇭b", "👍🏽b", "漢字b", "﷽b", "e" + "\u0301" * 5 + "b"])
async def test_every_row_has_exactly_the_width_of_the_prompt(text):
    app = PromptApp()
    async with app.run_test(size=(40, 12)) as pilot:
        app.composer.insert_text(text * 12)
        await pilot.pause()
        widths = {app.composer.render_line(y).cell_length for y in range(app.composer.content_size.height)}
        assert widths == {app.composer.content_size.width}


async def test_undo_and_redo():
    app = PromptApp()
    async with app.run_test() as pilot:
        await write(pilot, "word")
        await pilot.press("ctrl+underscore")
        assert app.composer.text == ""
        await pilot.press("ctrl+y")
        assert app.composer.text == "word"


async def test_a_long_paste_is_a_chip_that_is_sent_exact():
    app = PromptApp()
    block = "  indented\ttab \n" * 34
    async with app.run_test() as pilot:
        await write(pilot, "see ")
        await paste(app, pilot, block)
        assert any("[Pasted #1: 34 lines]" in row for row in rows_of(app))
        await pilot.press("enter")
        assert app.sent == ["see " + block]


async def test_two_pastes_keep_their_order_and_a_trailing_newline_does_not_send():
    app = PromptApp()
    first, second = "one\n" * 3000, "two\n" * 2000
    async with app.run_test() as pilot:
        await paste(app, pilot, first)
        await write(pilot, " and ")
        await paste(app, pilot, second)
        assert app.sent == []
        await pilot.press("enter")
        assert app.sent == [first + " and " + second]


@pytest.mark.parametrize("keys", [["backspace"], ["left", "delete"], ["ctrl+w"], ["shift+left", "backspace"]])
async def test_deleting_a_chip_takes_its_block_only(keys):
    app = PromptApp()
    async with app.run_test() as pilot:
        await paste(app, pilot, "one\n" * 20)
        await write(pilot, " and ")
        await paste(app, pilot, "two\n" * 20)
        await pilot.press(*keys)
        assert app.composer.value == "one\n" * 20 + " and "
        await pilot.press("ctrl+underscore")
        assert app.composer.value == "one\n" * 20 + " and " + "two\n" * 20


async def test_a_word_deletion_that_would_end_inside_a_chip_takes_it_whole():
    app = PromptApp()
    async with app.run_test() as pilot:
        await write(pilot, "a ")
        await paste(app, pilot, "one\n" * 20)
        await write(pilot, "b")
        app.composer.move_cursor((0, 1))
        await pilot.press("alt+d")
        assert app.composer.text == "ab"


async def test_a_chip_that_is_wrapped_over_two_rows_is_still_deleted_whole():
    app = PromptApp()
    async with app.run_test(size=(24, 20)) as pilot:
        await write(pilot, "a ")
        await paste(app, pilot, "one\n" * 20)
        await write(pilot, "b")
        await pilot.pause()
        assert app.composer.wrapped_document.height > 1
        await pilot.press("left", "ctrl+u")
        assert app.composer.text == "a b"


async def test_the_caret_never_stands_inside_a_chip():
    app = PromptApp()
    async with app.run_test() as pilot:
        await paste(app, pilot, "one\n" * 20)
        end = app.composer.cursor_location[1]
        await pilot.press("left")
        assert app.composer.cursor_location == (0, 0)
        await pilot.press("ctrl+right")
        assert app.composer.cursor_location == (0, end)
        for column in range(end + 1):
            app.composer.move_cursor((0, column))
            assert app.composer.cursor_location[1] in (0, end)


async def test_a_chip_unfolds_with_a_key():
    app = PromptApp()
    async with app.run_test() as pilot:
        await paste(app, pilot, "one\n" * 20)
        await pilot.press("alt+x")
        assert app.composer.text == "one\n" * 20


async def test_a_paste_with_the_end_marker_and_returns_in_it_sends_nothing():
    app = PromptApp()
    async with app.run_test() as pilot:
        await paste(app, pilot, " safe \x1b[201~\r/quit\r")
        assert app.sent == []
        assert app.composer.value == " safe \n/quit\n"


async def test_a_megabyte_is_taken_and_fifty_are_refused_politely():
    app = PromptApp()
    megabyte = ("x" * 99 + "\n") * 10_000
    async with app.run_test() as pilot:
        await paste(app, pilot, megabyte * 50)
        (refused,) = app.all(Composer.Refused)
        assert "10 MB" in refused.text
        assert app.composer.text == ""
        await paste(app, pilot, megabyte)
        await pilot.press("enter")
        assert app.sent == [megabyte]


async def test_a_pasted_image_path_becomes_an_attachment(tmp_path: Path):
    picture = tmp_path / "my shot.png"
    picture.write_bytes(b"\x89PNG")
    app = PromptApp()
    async with app.run_test() as pilot:
        await paste(app, pilot, f"'{picture}'")
        assert app.composer.attachments == (str(picture),)
        await pilot.press("enter")
        (sent,) = app.all(Composer.Submitted)
        assert (sent.text, sent.attachments) == ("[Image #1: my shot.png] ", (str(picture),))
        assert [message.paths for message in app.all(Composer.AttachmentsChanged)] == [(str(picture),), ()]


async def test_the_path_of_a_missing_image_is_plain_text():
    app = PromptApp()
    async with app.run_test() as pilot:
        await paste(app, pilot, "/no/such/shot.png")
        assert (app.composer.value, app.composer.attachments) == ("/no/such/shot.png", ())


async def test_history_is_walked_from_an_empty_prompt_and_the_draft_is_kept():
    app = PromptApp()
    async with app.run_test() as pilot:
        app.composer.set_history(["first", "second"])
        await pilot.press("up")
        assert app.composer.text == "second"
        await pilot.press("up", "up")
        assert app.composer.text == "first"
        await pilot.press("down", "down")
        assert app.composer.text == ""
        await write(pilot, "draft")
        await pilot.press("ctrl+up")
        assert app.composer.text == "second"
        await pilot.press("ctrl+down")
        assert app.composer.text == "draft"


async def test_up_in_a_draft_moves_the_caret_first():
    app = PromptApp()
    async with app.run_test() as pilot:
        app.composer.set_history(["old"])
        await write(pilot, "one\ntwo")
        await pilot.press("up", "up")
        assert (app.composer.text, app.composer.cursor_location) == ("one\ntwo", (0, 0))
        await pilot.press("up")
        assert app.composer.text == "old"


async def test_earlier_prompts_are_searched_by_words():
    app = PromptApp()
    async with app.run_test() as pilot:
        app.composer.set_history(["fix the test", "write docs", "test the fix again"])
        await write(pilot, "fix")
        await pilot.press("alt+r")
        await pilot.pause()
        assert any("test the fix again" in row for row in rows_of(app))
        await pilot.press("down", "enter")
        assert app.composer.text == "fix the test"
        assert app.sent == []


async def test_escape_leaves_the_search_with_the_draft_as_it_was():
    app = PromptApp()
    async with app.run_test() as pilot:
        app.composer.set_history(["fix the test"])
        await write(pilot, "fi")
        await pilot.press("alt+r", "x", "escape")
        assert app.composer.text == "fi"
        assert app.all(Composer.Escape) == []


async def test_wheel_and_focus_leave_the_draft_alone():
    app = PromptApp()
    async with app.run_test() as pilot:
        app.composer.set_history(["old"])
        await write(pilot, "draft")
        wheel = {"delta_x": 0, "delta_y": 0, "button": 0, "shift": False, "meta": False, "ctrl": False}
        for _ in range(3):
            app.post_message(events.MouseScrollUp(None, 5, 2, **wheel))
        await pilot.pause()
        assert app.composer.text == "draft"


async def test_ctrl_s_puts_the_draft_aside_and_brings_it_back_with_its_blocks():
    app = PromptApp()
    async with app.run_test() as pilot:
        await paste(app, pilot, "one\n" * 20)
        await write(pilot, " tail")
        await pilot.press("ctrl+s")
        assert app.composer.text == ""
        await write(pilot, "quick question")
        await pilot.press("enter", "ctrl+s")
        assert app.composer.value == "one\n" * 20 + " tail"
        assert [message.count for message in app.all(Composer.StashChanged)] == [1, 0]


async def test_a_draft_is_restored_in_another_composer():
    app, other = PromptApp(), PromptApp()
    async with app.run_test() as pilot:
        await write(pilot, "see ")
        await paste(app, pilot, "one\n" * 20)
        draft = app.composer.text_for_draft
    async with other.run_test() as pilot:
        other.composer.restore_draft(draft)
        await pilot.press("!", "enter")
        assert other.sent == ["see " + "one\n" * 20 + "!"]


async def test_a_sent_text_comes_back_with_its_blocks_and_what_is_being_written_is_stashed():
    app = PromptApp()
    async with app.run_test() as pilot:
        await write(pilot, "see ")
        await paste(app, pilot, "one\n" * 20)
        await pilot.press("enter")
        (sent,) = app.all(Composer.Submitted)
        await write(pilot, "new words")
        app.composer.put_back(sent.text, sent.draft)
        assert (app.composer.value, app.composer.text.count("Pasted")) == (sent.text, 1)
        await pilot.press("enter", "ctrl+s")
        assert app.composer.value == "new words"


async def test_a_text_without_a_draft_comes_back_folded_if_it_is_long():
    app = PromptApp()
    async with app.run_test():
        app.composer.put_back("one\n" * 20)
        assert (app.composer.value, app.composer.text.count("Pasted")) == ("one\n" * 20, 1)


async def test_ctrl_c_copies_then_clears_then_asks_then_quits():
    app = PromptApp()
    async with app.run_test() as pilot:
        await write(pilot, "some text")
        app.composer.selection = Selection((0, 0), (0, 4))
        await pilot.press("ctrl+c")
        assert [message.text for message in app.all(Composer.CopyRequested)] == ["some"]
        app.composer.move_cursor((0, 4))
        await pilot.press("ctrl+c")
        assert app.composer.text == ""
        await pilot.press("ctrl+c")
        assert len(app.all(Composer.QuitArmed)) == 1
        await pilot.press("ctrl+c")
        assert len(app.all(Composer.QuitRequested)) == 1


async def test_what_ctrl_c_cleared_comes_back_with_undo():
    app = PromptApp()
    async with app.run_test() as pilot:
        await write(pilot, "abc")
        await pilot.press("ctrl+c", "ctrl+underscore")
        assert app.composer.text == "abc"


async def test_a_copied_chip_is_copied_in_full():
    app = PromptApp()
    async with app.run_test() as pilot:
        await paste(app, pilot, "one\n" * 20)
        await pilot.press("f7", "ctrl+c")
        assert [message.text for message in app.all(Composer.CopyRequested)] == ["one\n" * 20]


@pytest.mark.parametrize(
    ("typed", "key", "kind"),
    [
        ("", "ctrl+d", Composer.QuitRequested),
        ("", "question_mark", Composer.HelpRequested),
        ("draft", "escape", Composer.Escape),
        ("draft", "ctrl+g", Composer.EditorRequested),
    ],
)
async def test_keys_that_are_for_the_screen_are_told_to_it(typed, key, kind):
    app = PromptApp()
    async with app.run_test() as pilot:
        await write(pilot, typed)
        await pilot.press(key)
        assert len(app.all(kind)) == 1
        assert app.composer.text == typed


async def test_a_question_mark_in_a_text_is_a_question_mark():
    app = PromptApp()
    async with app.run_test() as pilot:
        await write(pilot, "why?")
        assert app.composer.text == "why?"


async def test_another_theme_is_seen_at_once():
    app = PromptApp()
    app.register_theme(load_theme("hermes-light"))
    async with app.run_test() as pilot:
        await write(pilot, "abc")
        before = {str(segment.style) for segment in app.composer.render_line(0)}
        app.theme = "hermes-light"
        await pilot.pause()
        after = {str(segment.style) for segment in app.composer.render_line(0)}
        assert any(load_theme("hermes-light").variables["input-cursor-background"] in style for style in after)
        assert not before & after


async def test_nothing_wakes_up_while_the_prompt_rests():
    app = PromptApp()
    async with app.run_test() as pilot:
        await write(pilot, "abc")
        await pilot.pause()
        running = [timer for timer in app.composer._timers if timer._active.is_set()]
        assert running == []


@pytest.mark.parametrize(("mark", "name"), [("!", "shell"), ("#", "note")])
async def test_a_mark_changes_the_look_of_the_prompt_and_completes_nothing(
    mark: str, name: str, tmp_path: Path
) -> None:
    (tmp_path / "a.py").touch()
    app = PromptApp(tmp_path)
    async with app.run_test() as pilot:
        await write(pilot, "x @a")
        await until(pilot, lambda: "a.py" in "".join(rows_of(app)[:-3]))
        await pilot.press("escape", "ctrl+c")
        await write(pilot, f"{mark}x @a")
        await until(pilot, lambda: app.composer.border_title == name)
        prompt = next(row for row in rows_of(app) if f"{mark}x @a" in row)
        assert "\u276f" not in prompt and "a.py" not in "".join(rows_of(app))
        await pilot.press("home", "delete")
        await until(pilot, lambda: app.composer.border_title is None)
        assert len(app.all(Composer.KindChanged)) == 2


async def test_a_bare_mark_sends_nothing_and_up_brings_a_command_back_as_one() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await write(pilot, "!")
        await pilot.press("enter")
        assert app.sent == []
        await write(pilot, "ls")
        await pilot.press("enter", "up")
        assert (app.composer.text, app.composer.kind, app.composer.border_title) == ("!ls", "shell", "shell")


async def test_a_long_command_comes_back_as_a_command() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        text = "!" + "\n".join(f"echo {number}" for number in range(30))
        app.composer.set_value(text)
        assert (app.composer.value, app.composer.kind) == (text, "shell")
        await pilot.press("enter")
        assert app.sent == [text]


async def test_a_pasted_block_that_begins_with_a_mark_is_no_command() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await paste(app, pilot, "!" + "x\n" * 30)
        await pilot.press("enter")
        assert [message.kind for message in app.all(Composer.Submitted)] == ["message"]


async def test_an_image_path_in_a_command_stays_a_path(tmp_path: Path) -> None:
    image = tmp_path / "a.png"
    image.write_bytes(b"x")
    app = PromptApp()
    async with app.run_test() as pilot:
        await write(pilot, "!file ")
        await paste(app, pilot, str(image))
        assert (app.composer.value, app.composer.attachments) == (f"!file {image}", ())
