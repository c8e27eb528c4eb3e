import pytest
from support.screens import Host, until

from hermes_tui.theming import theme_names
from hermes_tui.widgets.line_styles import LineStyles
from hermes_tui.widgets.line_text import line
from hermes_tui.widgets.line_view import LineView

COLOURED = ("muted", "accent", "warning", "error", "success", "danger", "mark", "current", "added", "removed", "cursor")


@pytest.mark.parametrize("theme", theme_names())
async def test_every_theme_gives_every_style_a_colour(theme: str):
    host = Host(theme)
    async with host.run_test():
        styles = LineStyles(host.theme_variables)
        for name in COLOURED:
            assert styles[name].color or styles[name].bgcolor, name


async def test_lines_follow_a_change_of_theme():
    class App(Host):
        def compose(self):  # type: ignore[no-untyped-def]
            yield LineView([line("x", "error")])

    host = App()
    from hermes_tui.theming import load_theme

    host.register_theme(load_theme("hermes-light"))
    async with host.run_test() as pilot:
        view = host.query_one(LineView)
        before = view.line_styles["error"].color
        host.theme = "hermes-light"
        await until(pilot, lambda: view.line_styles["error"].color != before)


def test_a_theme_without_a_variable_leaves_the_text_plain():
    assert LineStyles({})["muted"].color is None
    assert LineStyles({"muted": "auto 60%"})["muted"].color is None
