import pytest
from support.screens import Host, until
from textual import events
from textual.app import ComposeResult

from hermes_tui.widgets.field import Field, clean_paste, odd_character


@pytest.mark.parametrize(
    ("pasted", "kept"),
    [
        ("sk-test-123\n", "sk-test-123"),
        ("\x1b[200~sk-test\x1b[201~", "sk-test"),
        ("[200~sk-test[201~", "sk-test"),
        ("two\nlines\r\nhere", "two lines here"),
        ("a\x00b\x07", "ab"),
        ("\n\n", ""),
    ],
)
async def test_a_paste_becomes_one_clean_line(pasted: str, kept: str):
    class App(Host):
        def compose(self) -> ComposeResult:
            yield Field()

    app = App()
    async with app.run_test() as pilot:
        field = app.query_one(Field)
        field.focus()
        await until(pilot, lambda: field.has_focus)
        app.post_message(events.Paste("x"))
        app.post_message(events.Paste(pasted))
        await until(pilot, lambda: field.value == "x" + kept)


def test_a_pasted_key_keeps_no_blank():
    assert clean_paste(" sk-a\n bc ", secret=True) == "sk-abc"


@pytest.mark.parametrize(
    ("key", "word"),
    [
        ("sk-abc", ""),
        ("", "empty"),
        ("${OPENAI_API_KEY}", "name of a variable"),
        ("s\u043a-abc", "Character 2"),
        ("\u201csk-abc\u201d", "Character 1"),
        ("sk-abc\u200b", "Character 7"),
        ("\ufeffsk", "Character 1"),
    ],
)
def test_a_key_that_cannot_work_is_explained(key: str, word: str):
    assert word in odd_character(key)
    assert bool(word) == bool(odd_character(key))


@pytest.mark.parametrize(
    ("keys", "kept"),
    [
        ("zebra\b\b\bheron", "zeheron"),
        ("a\b斑马\b!", "斑!"),
        ("ab\x15cd", "cd"),  # ctrl+u
    ],
)
async def test_keys_of_one_burst_act_in_the_order_of_typing(keys: str, kept: str):
    names = {"\b": "backspace", "\x15": "ctrl+u"}

    class App(Host):
        def compose(self) -> ComposeResult:
            yield Field()

    app = App()
    async with app.run_test() as pilot:
        field = app.query_one(Field)
        field.focus()
        await until(pilot, lambda: field.has_focus)
        for key in keys:
            app.post_message(events.Key(names.get(key, key), None if key in names else key))
        await until(pilot, lambda: field.value == kept, field.value)
