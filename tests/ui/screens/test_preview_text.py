import json

from hermes_tui.engine.types.sessions import Snippet, StoredMessage
from hermes_tui.widgets.preview_text import MAX_TOOL_LINES, find_words, preview_lines, searched_words


def stored(id: int, **message: object) -> StoredMessage:
    return StoredMessage(id=id, message=message)  # type: ignore[arg-type]


def text_of(*messages: StoredMessage, words: tuple[str, ...] = ()) -> str:
    return "\n".join(entry.text for entry in preview_lines(messages, words)[0])


CALL = {"id": "c", "type": "function", "function": {"name": "terminal", "arguments": json.dumps({"command": "ls\n-l"})}}


def test_a_conversation_reads_like_the_chat():
    text = text_of(
        stored(1, role="system", content="secret prompt"),
        stored(2, role="user", content="look\nhere"),
        stored(3, role="assistant", content="Sure.", tool_calls=[CALL]),
        stored(4, role="tool", tool_name="terminal", content=json.dumps({"output": "a\nb", "exit_code": 0})),
        stored(5, role="assistant", content=None, partial="half an ans"),
    )
    assert text.split("\n") == [
        "\u203a look", "  here", "", "Sure.", "\u25b8 terminal  ls -l", "", "  a", "  b", "", "half an ans",
    ]  # fmt: skip


def test_long_tool_output_is_short_unless_it_holds_the_hit():
    message = stored(1, role="tool", tool_name="terminal", content="\n".join(f"row {n}" for n in range(50)))
    assert f"{50 - MAX_TOOL_LINES} more lines of terminal" in text_of(message)
    assert "row 49" in text_of(message, words=("row 40",))


def test_broken_arguments_and_foreign_shapes_are_shown_not_raised():
    broken = {"id": "c", "type": "function", "function": {"name": "x", "arguments": '{"a": '}}
    listed = {"id": "c", "type": "function", "function": {"name": "x", "arguments": "[1]"}}
    empty = {"id": "c", "type": "function", "function": {"name": "x", "arguments": "{}"}}
    text = text_of(
        stored(1, role="assistant", content=None, tool_calls=[broken, listed, empty]),
        stored(2, role="tool", content="[1, 2]"),
        stored(3, role="user", content=[{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {}}]),
    )
    assert '{"a":' in text
    assert "see" in text


def test_text_of_others_is_inert():
    text = text_of(stored(1, role="assistant", content="\x1b[2J\u202eabc [b]x[/b]"))
    assert not set(text) & {"\x1b", "\u202e"}
    assert "[b]x[/b]" in text


def test_marked_words_are_found_wherever_they_stand():
    snippets = (Snippet(message_id=1, role="user", text="The Sky is blue", marks=((4, 7), (11, 15))),)
    words = searched_words(snippets)
    assert words == ["blue", "sky"]
    lines = preview_lines([stored(1, role="user", content="sky SKY bluesky")])[0]
    assert find_words(lines, words) == {0: [(2, 5), (6, 9), (10, 14), (14, 17)]}
