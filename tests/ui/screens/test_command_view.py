import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tui.engine.types.requests import ApprovalRequest, CommandPart, TouchedPath
from hermes_tui.widgets.command_view import request_lines
from hermes_tui.widgets.command_view_text import command_lines, hidden_count
from hermes_tui.widgets.rendering.code import CodeStyler


def shown(text: str, *parts: CommandPart) -> str:
    return "\n".join(entry.text for entry in command_lines(text, parts))


def part(text: str, piece: str, danger_class: str = "danger", reason: str = "deletes") -> CommandPart:
    start = text.index(piece)
    return CommandPart(
        argv=tuple(piece.split()), danger_class=danger_class, reason=reason, start=start, end=start + len(piece)
    )


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("ls", "ls"),
        ("a\nb", "a\u21b5\nb"),
        ("a\n", "a\u21b5"),
        ("a\tb", "a\u21e5   b"),
        ("ls  ", "ls\u00b7\u00b7"),
        ("ls  \npwd", "ls\u00b7\u00b7\u21b5\npwd"),
        ("a\rb", "a\u240db"),
        ("\x1b[2J", "\u241b[2J"),
        ("\x00\x07", "\u2400\u2407"),
        ("\x7f", "\u2421"),
        ("\x9b31m", "\u2039U+009B\u203a31m"),
        ("r\u200bm x", "r\u2039U+200B\u203am x"),
        ("a\u202eb", "a\u2039U+202E\u203ab"),
        ("a\u2066b", "a\u2039U+2066\u203ab"),
        ("a\u00a0b", "a\u2039U+00A0\u203ab"),
        ("a\u3164b", "a\u2039U+3164\u203ab"),
        ("a\ufe0fb", "a\u2039U+FE0F\u203ab"),
        ("a\U000e0041b", "a\u2039U+E0041\u203ab"),
        ("a\u2028b", "a\u2039U+2028\u203ab"),
        ("a\udcffb", "a\u2039\\xFF\u203ab"),
        ("echo \u65e5\u672c", "echo \u65e5\u672c"),
        ('echo "[phase=2: total] 3"', 'echo "[phase=2: total] 3"'),
        ("sed -n '[/b]p' f", "sed -n '[/b]p' f"),
        ("x[a=b:", "x[a=b:"),
        ("[@click=app.quit]x[/]", "[@click=app.quit]x[/]"),
        ("", ""),
    ],
)
def test_every_character_of_a_command_is_seen(text: str, seen: str):
    assert shown(text) == seen


@given(st.text(max_size=80))
def test_nothing_in_a_command_moves_the_cursor_or_hides(text: str):
    for entry in command_lines(text):
        assert entry.text == "".join(entry.text.splitlines())
        assert hidden_count(entry.text) == 0
        assert "\x1b" not in entry.text


def test_visible_text_is_kept_whole():
    text = "echo " + "a" * 3000 + "; rm -r build"
    assert shown(text) == text


def test_dangerous_parts_are_marked_where_they_stand_and_the_worst_wins():
    text = "sudo rm -r build && frob x"
    spans = command_lines(
        text, (part(text, "rm -r build"), part(text, text[:16], "unknown"), part(text, "frob x", "unknown"))
    )[0].spans
    styles = dict(spans)
    assert styles["rm -r build"] == "danger"
    assert styles["frob x"] == "unknown"


def test_marks_stay_on_their_text_when_symbols_make_it_longer():
    text = "\t\u202e\x1b rm -r build"
    spans = dict(command_lines(text, (part(text, "rm -r build"),))[0].spans)
    assert spans["rm -r build"] == "danger"


def test_offsets_outside_the_text_do_no_harm():
    assert shown("ls", CommandPart(argv=("ls",), danger_class="danger", start=-4, end=99)) == "ls"


def request(**changes: object) -> ApprovalRequest:
    fields: dict[str, object] = {
        "request_id": "r1", "call_ids": ("c1",), "tool": "terminal", "action": "command", "text": "rm -r build",
        "reasons": (),
    }  # fmt: skip
    return ApprovalRequest(**(fields | changes))  # type: ignore[arg-type]


def text_of(asked: ApprovalRequest, home: str = "") -> str:
    return "\n".join(entry.text for entry in request_lines(asked, home))


def test_the_dialog_says_who_asks_where_why_and_what_it_touches():
    body = text_of(
        request(
            reasons=("pipes into a shell",),
            text="cd .. && rm -r build",
            parts=(part("cd .. && rm -r build", "rm -r build", reason="deletes a folder"),),
            touched=(TouchedPath(path="/h/p/build", kind="delete", note="214 files, not tracked"),),
            cwd="/h/p",
            agent_id="researcher",
            call_ids=("a", "b"),
        ),
        home="/h",
    )
    for words in (
        "~/p", "subagent researcher", "2 identical calls", "rm -r build: deletes a folder", "pipes into a shell",
        "delete ~/p/build", "214 files, not tracked",
    ):  # fmt: skip
        assert words in body


def test_the_reason_of_the_whole_text_does_not_repeat_the_text():
    body = text_of(request(parts=(part("rm -r build", "rm -r build", reason="deletes a folder"),)))
    assert body.count("rm -r build") == 1


def test_reasons_stand_above_a_text_that_would_hide_them():
    for text, order in (("ls", ["ls", "slow"]), ("ls\n" * 9, ["slow", "ls"])):
        body = text_of(request(text=text, reasons=("slow",)))
        assert sorted(order, key=body.index) == order


def test_a_reason_that_belongs_to_a_part_is_said_once():
    body = text_of(request(reasons=("deletes",), parts=(part("rm -r build", "rm -r build"),)))
    assert body.count("deletes") == 1


def test_an_edit_shows_its_diff_with_hidden_characters_visible():
    lines = request_lines(
        request(action="edit", text="src/a.py", diff="--- a\n+++ b\n@@ -1 +1 @@\n-old\n+n\u200bew\t\n")
    )
    assert not any(entry.text.startswith(("---", "+++")) for entry in lines)
    grounds = {entry.text: entry.ground for entry in lines if entry.spans}
    assert grounds["1 - old"] == "removed-ground"
    assert grounds["1 + n\u2039U+200B\u203aew\u21e5   "] == "added-ground"


def test_the_code_of_a_diff_is_coloured_on_the_ground_of_its_line():
    diff = "--- a/q.py\n+++ b/q.py\n@@ -7,2 +7,2 @@ class Q:\n     x = 1\n-    return None\n+    return x\n"
    lines = request_lines(request(action="edit", text="q.py", diff=diff), styler=CodeStyler())
    spans = {entry.text: entry.spans for entry in lines}
    assert "  \u22ef  class Q:" in spans
    assert ("return", "added-ground kw") in spans["8 +     return x"]
    assert ("return", "removed-ground kw") in spans["8 -     return None"]
    assert spans["7       x = 1"][0] == ("7 ", "muted")


def test_lines_of_a_diff_that_look_like_file_names_are_shown():
    diff = "--- a/q.sql\n+++ b/q.sql\n@@ -1,2 +1,2 @@\n--- drop\n+++ keep\n"
    texts = [entry.text for entry in request_lines(request(action="edit", text="q.sql", diff=diff))]
    assert "1 - -- drop" in texts
    assert "1 + ++ keep" in texts


def test_context_cannot_smuggle_lines_or_escapes():
    body = text_of(request(reasons=("safe\nreally\x1b[2J",), agent_id="a\u202eb", cwd="/x\ny"))
    assert "\x1b" not in body
    assert "\u202e" not in body
    assert "safe really" in body
