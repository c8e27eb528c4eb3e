import pytest
from support.screens import Clock, Host, painted, until
from textual import events

from hermes_tui.engine.types.requests import ClarifyAnswer, ClarifyRequest
from hermes_tui.screens.approval_guard import Pacing
from hermes_tui.screens.clarify import ClarifyScreen
from hermes_tui.widgets.field import Field

CHOICES = ("SQLite", "DuckDB", "A [red]flat[/red] file")


def question(choices: tuple[str, ...] = CHOICES) -> ClarifyRequest:
    return ClarifyRequest(request_id="q1", call_id="c1", question="Which [b]database[/b]?\nSay it.", choices=choices)


async def answers(keys: list[str], choices: tuple[str, ...] = CHOICES) -> list[str]:
    host = Host()
    clock = Clock()
    async with host.run_test() as pilot:
        screen = ClarifyScreen(question(choices), pacing=Pacing(clock=clock))
        host.open(screen)
        await until(pilot, lambda: screen.is_mounted and screen._guard.next_change_s(clock.now) is not None)
        clock.advance(1.0)
        await until(pilot, lambda: screen.armed and (choices or screen.query_one(Field).has_focus))
        for key in keys:
            clock.advance(1.0)
            await pilot.press("space" if key == " " else key)
            clock.advance(1.0)
            await until(pilot, lambda: screen._guard._waiting is None)
        await until(pilot, lambda: host.hear(ClarifyScreen.Answered))
        said = host.hear(ClarifyScreen.Answered)
        assert {message.request_id for message in said} == {"q1"}
        screen.close(said[0].answer)
        await until(pilot, lambda: host.results == [said[0].answer])
        return [message.answer.text for message in said]


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        (["1"], "SQLite"),
        (["3"], "A [red]flat[/red] file"),
        (["down", "down", "enter"], "DuckDB"),
        (["enter", "2"], "DuckDB"),
        (["t", *"my own", "enter"], "my own"),
        (["t", "escape", "1"], "SQLite"),
        (["escape"], ""),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
async def test_a_choice_or_own_words_answer(keys: list[str], text: str):
    assert await answers(keys) == [text]


@pytest.mark.parametrize(
    ("keys", "text"), [([*"Ada", "enter"], "Ada"), (["enter", *"x", "enter"], "x"), (["escape"], "")]
)
async def test_without_choices_the_answer_is_typed(keys: list[str], text: str):
    assert await answers(keys, ()) == [text]


@pytest.mark.parametrize("choices", [CHOICES, ()])
async def test_early_typing_and_pastes_go_to_the_draft(choices: tuple[str, ...]):
    host = Host()
    clock = Clock()
    async with host.run_test() as pilot:
        screen = ClarifyScreen(question(choices), pacing=Pacing(clock=clock))
        host.open(screen)
        await until(pilot, lambda: screen.is_mounted)
        await pilot.press(*"1 2".replace(" ", ""), "t")
        host.post_message(events.Paste("3\n"))
        await until(pilot, lambda: "".join(said.text for said in host.hear(ClarifyScreen.TypedEarly)) == "12t3\n")
        assert host.hear(ClarifyScreen.Answered) == []
        assert not screen.query_one(Field).value


async def test_text_is_literal_and_an_answer_from_elsewhere_is_said():
    host = Host()
    async with host.run_test() as pilot:
        screen = ClarifyScreen(question())
        host.open(screen)
        await until(pilot, lambda: "[red]flat[/red]" in painted(host))
        assert "Which [b]database[/b]?" in painted(host)
        screen.close(ClarifyAnswer(text="SQLite"))
        await until(pilot, lambda: host.results)
        assert "elsewhere" in " ".join(note.message for note in host._notifications)
