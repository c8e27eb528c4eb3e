from support.prompt_app import WidgetApp, rows_of

from hermes_tui.widgets.side_panel import ContextRow, FileRow, SidePanel, TaskRow
from hermes_tui.widgets.todo_list import TodoRow, open_count, todo_lines

TODOS = [TodoRow("done", "done"), TodoRow("now", "in_progress"), TodoRow("next"), TodoRow("not", "cancelled")]


def test_todos_are_told_in_words_too():
    assert [line.text for line in todo_lines(TODOS, plain=True)] == ["[x] done", "[>] now", "[ ] next", "[-] not"]
    assert open_count(TODOS) == 2


async def test_every_section_is_there_and_says_when_it_is_empty():
    panel = SidePanel()
    app = WidgetApp(panel)
    async with app.run_test(size=(90, 30)) as pilot:
        assert not panel.display
        panel.display = True
        await pilot.pause()
        shown = "\n".join(rows_of(app))
        for word in ("Todos", "no plan yet", "Context", "Files changed", "Subagents", "Background jobs"):
            assert word in shown


async def test_rows_are_plain_text():
    panel = SidePanel(plain=True)
    app = WidgetApp(panel)
    async with app.run_test(size=(120, 60)) as pilot:
        panel.display = True
        panel.styles.width = 60
        panel.styles.max_width = 60
        panel.set_todos([TodoRow("[b]fix[/b] \x1b[31mit", "in_progress")])
        panel.set_context([ContextRow("tools", 6_100), ContextRow("messages", 61_000)], window=200_000)
        panel.set_files([FileRow("src/sync.py", 6, 2)])
        panel.set_jobs([TaskRow("npm run dev", "running")])
        await pilot.pause()
        shown = "\n".join(rows_of(app))
        assert "[>] [b]fix[/b]" in shown
        assert "\x1b" not in shown
        assert shown.index("61k  messages") < shown.index("6.1k  tools") < shown.index("67k  in all of 200k (34%)")
        assert "+6 -2  src/sync.py" in shown
        assert "running npm run dev" in shown
