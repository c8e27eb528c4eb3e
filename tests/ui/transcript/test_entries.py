import json

import pytest
from support.rendering import frame, lines_of, rows_of

from hermes_tui.widgets.entries import DividerEntry, NoticeEntry, ReasoningEntry, ToolEntry, UserEntry

DIFF = """\
--- a/src/sync.py
+++ b/src/sync.py
@@ -12,3 +12,4 @@ def sync(path):
     started = now()
-    return rows(path)
+    with Lock(path):
+        return rows(path)
 # end
"""


def finished(outcome="ok", result=None, kind="terminal", **display):
    tool = ToolEntry("1", "terminal")
    tool.start({"command": "pytest -q"}, {"kind": kind, "verb": "run", "target": "pytest -q"})
    tool.finish(outcome, display, json.dumps(result or {"ok": outcome == "ok", "output": "one\ntwo"}), 1.84)
    return tool


STATES = [
    ("ok", "\u2713", "1.8s"),
    ("error", "\u2717", "1.8s  failed"),
    ("denied", "\u2298", "denied"),
    ("timeout", "\u2717", "timed out"),
    ("interrupted", "\u25a0", "interrupted"),
]


@pytest.mark.parametrize(("outcome", "glyph", "words"), STATES)
def test_a_tool_says_how_it_ended_in_a_glyph_and_a_word(outcome, glyph, words):
    header = lines_of(finished(outcome))[0]
    assert header.startswith(f"{glyph} run  pytest -q") and header.endswith(words)


def test_a_tool_before_it_ends():
    tool = ToolEntry("1", "write_file")
    tool.draft('{"path": "\u00e9')
    assert "write_file" in lines_of(tool)[0] and lines_of(tool)[0].endswith("12 B  preparing")
    tool.start({"path": "a.txt"})
    tool.waiting(True)
    assert lines_of(tool)[0].endswith("waiting for you")
    tool.waiting(False)
    tool.note("allowed once")
    assert lines_of(tool, frame(now=5.0))[0].endswith("0.0s  running")
    assert lines_of(tool, frame(now=9.0))[0].endswith("4.0s  running")
    assert lines_of(tool)[1] == "  \u21b3 allowed once"


def test_live_output_shows_its_last_lines_and_is_bounded():
    tool = ToolEntry("1", "terminal")
    tool.start({"command": "yes"})
    for i in range(5_000):
        tool.append_output(f"line {i}\x1b[31m\r\n")
    assert lines_of(tool)[1:] == [f"\u2502 line {i}" for i in range(4_995, 5_000)]
    assert "5,000 lines" in lines_of(tool)[0]
    assert len(tool.source()) < 10_000


def test_success_is_one_row_and_failure_shows_its_last_lines():
    assert len(lines_of(finished())) == 1
    failed = finished("error", {"ok": False, "output": "\n".join(map(str, range(30))), "error": "exit 1"}, exit_code=1)
    lines = lines_of(failed)
    assert "exit 1" in lines[0]
    assert lines[1] == "\u2502 \u2026 21 earlier lines" and lines[-1] == "\u2502 exit 1" and len(lines) == 12
    failed.expanded = True
    assert len(lines_of(failed)) == 32


def test_a_huge_result_keeps_its_head_and_tail():
    tool = finished(result={"ok": True, "output": "x" * 200_000 + "the end"})
    tool.expanded = True
    text = "".join(lines_of(tool))
    assert "characters not shown" in text and text.endswith("the end")
    assert len(tool.source()) < 40_000


def test_a_diff_is_shown_after_success():
    tool = finished(kind="diff", diff=DIFF, added=2, removed=1)
    lines = lines_of(tool)
    assert "+2  -1" in lines[0]
    assert lines[1:] == [
        "\u2502    \u22ef  def sync(path):",
        "\u2502 12        started = now()",
        "\u2502 13 -      return rows(path)",
        "\u2502 13 +      with Lock(path):",
        "\u2502 14 +          return rows(path)",
        "\u2502 15    # end",
    ]
    assert len(lines_of(tool, frame(detail="compact"))) == 1
    tool.expanded = False
    assert len(lines_of(tool)) == 1


def test_a_long_diff_is_folded():
    body = "".join(f"+line {i}\n" for i in range(100))
    tool = finished(kind="diff", diff=f"@@ -0,0 +1,100 @@\n{body}")
    assert lines_of(tool)[-1] == "\u2502 \u2026 61 more lines"
    tool.expanded = True
    assert lines_of(tool)[-1].endswith("line 99")


def test_todos_are_a_checklist():
    items = [{"content": "a", "status": "done"}, {"content": "b", "status": "in_progress"}, {"content": "[c]"}]
    assert lines_of(finished(kind="todo", items=items))[1:] == [
        "\u2502 \u2713 a",
        "\u2502 \u25cf b",
        "\u2502 \u25cb [c]",
    ]


@pytest.mark.parametrize("width", [12, 20, 40, 200])
def test_headers_fit_any_width_and_keep_their_state(width):
    tool = finished("error", summary="a long summary of things", added=123, removed=45, exit_code=127)
    rows = rows_of(tool, frame(width))
    assert all(row.cell_length == width for row in rows)
    assert width < 20 or rows[0].text.rstrip().endswith("failed")


def test_reasoning_is_live_then_one_line():
    entry = ReasoningEntry()
    for i in range(40):
        entry.append(f"thought number {i} goes on for a while. ")
    live = lines_of(entry)
    assert live[0].startswith("thinking") and len(live) == 5 and "number 39" in "".join(live)
    entry.finish(64.0)
    assert lines_of(entry) == ["thought 1m04s \u00b7 " + lines_of(entry)[0].split(" \u00b7 ")[1]]
    assert "thought number 0" in lines_of(entry)[0]
    assert lines_of(entry, frame(reasoning="hidden")) == []
    assert len(lines_of(entry, frame(reasoning="full"))) > 10


def test_what_the_person_wrote_is_shown_as_it_is():
    entry = UserEntry("# not a heading\n  [b]indented[/b] *stars*", queued=True)
    assert [line.split("   ")[0] for line in lines_of(entry)] == ["# not a heading", "  [b]indented[/b] *stars*"]
    assert lines_of(entry)[0].endswith("queued")


def test_long_pastes_are_folded():
    entry = UserEntry("\n".join(f"row {i}" for i in range(100)))
    assert lines_of(entry)[-1] == "\u2026 80 more lines"
    entry.expanded = True
    assert lines_of(entry)[-1] == "row 99"
    assert entry.source().endswith("row 99")


def test_notices_say_their_level_in_words():
    assert lines_of(NoticeEntry("warning", "slow [x]", "wait")) == ["! warning: slow [x]", "  wait"]
    assert lines_of(NoticeEntry("info", "Interrupted")) == ["\u00b7 Interrupted"]
    assert lines_of(NoticeEntry("error", "a\x1b[2Jb"))[0] == "\u2717 error: ab"
    assert lines_of(DividerEntry("12 older"))[0].startswith("\u2500\u2500 12 older \u2500")


@pytest.mark.parametrize("text", ["\x1b[2J", "\x1b]0;pwn\x07", "\u202e", "\x9b31m", "\x00"])
def test_no_entry_lets_control_characters_through(text):
    tool = finished("error", {"ok": False, "output": f"a{text}b"}, summary=f"s{text}")
    tool.note(f"n{text}")
    entries = [tool, UserEntry(f"u{text}"), NoticeEntry("info", f"i{text}", f"h{text}"), DividerEntry(f"d{text}")]
    reasoning = ReasoningEntry(f"r{text}")
    for entry in [*entries, reasoning]:
        entry.expanded = True
        for row in rows_of(entry):
            assert not any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or c == "\u202e" for c in row.text)


def test_a_command_that_ended_badly_shows_its_end_and_a_good_one_counts_its_lines():
    lines = "\n".join(f"row {number}" for number in range(30))
    bad = finished(output=lines, exit_code=2, lines=30)
    assert "30 lines  exit 2" in lines_of(bad)[0]
    assert lines_of(bad)[1] == "\u2502 \u2026 20 earlier lines" and lines_of(bad)[-1] == "\u2502 row 29"
    assert len(lines_of(bad, frame(detail="compact"))) == 1
    good = finished(output=lines, exit_code=0, lines=30)
    assert len(lines_of(good)) == 1 and "30 lines" in lines_of(good)[0]


def test_the_whole_reason_of_a_failed_read_is_shown():
    words = "calk.py does not exist. " * 5
    tool = finished("error", {"ok": False, "error": words}, kind="file", content="", summary=words)
    assert words.split(". ")[-2] in " ".join(lines_of(tool)[1:])


def test_a_person_s_own_command_shows_its_output():
    tool = finished(output="\n".join(map(str, range(40))), exit_code=0)
    tool.by_person = True
    assert lines_of(tool)[1] == "\u2502 \u2026 16 earlier lines" and lines_of(tool)[-1] == "\u2502 39"


def test_a_card_knows_the_file_and_line_it_is_about():
    assert finished(kind="diff", diff=DIFF, path="src/sync.py", line=13).place == ("src/sync.py", 13)
    assert finished().place == ("", 1)
