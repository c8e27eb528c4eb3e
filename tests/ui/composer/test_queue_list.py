import pytest
from support.prompt_app import WidgetApp, rows_of

from hermes_tui.widgets.queue_list import QueueList


@pytest.fixture
def queue() -> QueueList:
    return QueueList()


async def test_it_is_hidden_while_nothing_waits(queue):
    app = WidgetApp(queue)
    async with app.run_test() as pilot:
        assert not queue.display
        queue.set_items(["one", "two\nlines"])
        await pilot.pause()
        shown = "\n".join(rows_of(app))
        assert "2 queued" in shown
        assert "two lines" in shown
        queue.set_items([])
        assert not queue.display


@pytest.mark.parametrize(("held", "words"), [(False, "sent after this turn"), (True, "sent with your next message")])
async def test_it_says_what_the_messages_wait_for(queue, held, words):
    app = WidgetApp(queue)
    async with app.run_test() as pilot:
        app.screen.set_focus(None)
        queue.set_items(["one"], held=held)
        await pilot.pause()
        assert words in "\n".join(rows_of(app))


@pytest.mark.parametrize(
    ("keys", "kind", "values"),
    [
        (["enter"], QueueList.EditRequested, [(2,)]),
        (["up", "e"], QueueList.EditRequested, [(1,)]),
        (["d"], QueueList.DeleteRequested, [(2,)]),
        (["shift+up"], QueueList.MoveRequested, [(2, 1)]),
        (["up", "up", "shift+down"], QueueList.MoveRequested, [(0, 1)]),
        (["shift+down"], QueueList.MoveRequested, []),
        (["escape"], QueueList.Left, [()]),
        (["down"], QueueList.Left, [()]),
    ],
)
async def test_keys_say_what_is_wanted(queue, keys, kind, values):
    app = WidgetApp(queue)
    async with app.run_test() as pilot:
        queue.set_items(["one", "two", "three"])
        queue.focus()
        await pilot.pause()
        await pilot.press(*keys)
        names = ("index", "to")
        assert [tuple(vars(m)[n] for n in names if n in vars(m)) for m in app.all(kind)] == values


async def test_the_mouse_edits_and_deletes(queue):
    app = WidgetApp(queue)
    async with app.run_test(size=(60, 12)) as pilot:
        queue.set_items(["one", "two"])
        await pilot.pause()
        await pilot.click(QueueList, offset=(57, 2))
        assert [message.index for message in app.all(QueueList.DeleteRequested)] == [1]
        await pilot.click(QueueList, offset=(52, 1))
        assert [message.index for message in app.all(QueueList.EditRequested)] == [0]


async def test_when_the_last_one_goes_the_focus_is_given_back(queue):
    app = WidgetApp(queue)
    async with app.run_test() as pilot:
        queue.set_items(["one"])
        queue.focus()
        await pilot.pause()
        queue.set_items([])
        await pilot.pause()
        assert len(app.all(QueueList.Left)) == 1


async def test_many_messages_scroll(queue):
    app = WidgetApp(queue)
    async with app.run_test(size=(40, 20)) as pilot:
        queue.set_items([f"message {number}" for number in range(12)])
        await pilot.pause()
        assert queue.size.height == 6
        queue.focus()
        await pilot.press(*["up"] * 11)
        await pilot.pause()
        assert any("1 message 0" in row for row in rows_of(app))
