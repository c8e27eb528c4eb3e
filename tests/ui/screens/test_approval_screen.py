import dataclasses
import re

import pytest
from support.screens import Clock, Dialog, Host, painted, until
from textual import events
from textual.pilot import Pilot

from hermes_tui.engine.types.requests import ApprovalDecision, ApprovalRequest
from hermes_tui.screens.approval import ApprovalScreen
from hermes_tui.screens.approval_guard import Pacing
from hermes_tui.widgets.choice_list import ChoiceList
from hermes_tui.widgets.command_view import CommandView

REQUEST = ApprovalRequest(
    request_id="r1",
    call_ids=("c1",),
    tool="terminal",
    action="command",
    text="rm -r build",
    reasons=("deletes a folder",),
    cwd="/p",
    always_rules=("rm build",),
)


class Asked(Dialog[ApprovalScreen]):
    """An open approval dialog."""

    @property
    def decisions(self) -> list[tuple[str, ApprovalDecision]]:
        return [(said.request_id, said.decision) for said in self.host.hear(ApprovalScreen.Decided)]

    @property
    def typed(self) -> str:
        return "".join(said.text for said in self.host.hear(ApprovalScreen.TypedEarly))


async def ask(host: Host, pilot: Pilot[None], request: ApprovalRequest = REQUEST, **rest: object) -> Asked:
    clock = Clock()
    screen = ApprovalScreen(request, pacing=Pacing(clock=clock), **rest)  # type: ignore[arg-type]
    host.open(screen)
    await until(pilot, lambda: screen.is_mounted and host.screen is screen)
    return Asked(host, pilot, clock, screen)


@pytest.mark.parametrize(
    ("keys", "decision"),
    [
        (["1"], ApprovalDecision(choice="once")),
        (["2"], ApprovalDecision(choice="session")),
        (["3"], ApprovalDecision(choice="always", scope="project")),
        (["tab", "3"], ApprovalDecision(choice="always", scope="everywhere")),
        (["tab", "tab", "3"], ApprovalDecision(choice="always", scope="project")),
        (["4"], ApprovalDecision(choice="deny")),
        (["escape"], ApprovalDecision(choice="deny")),
        (["down", "enter"], ApprovalDecision(choice="once")),
        (["down", "down", "enter"], ApprovalDecision(choice="session")),
        (["up", "up", "up", "enter"], ApprovalDecision(choice="deny")),
        (["5", *"no way", "enter"], ApprovalDecision(choice="deny", message="no way")),
        (["5", *"x", "escape", "1"], ApprovalDecision(choice="once")),
        (["e", "end", *" -v", "ctrl+s"], ApprovalDecision(choice="edit", message="rm -r build -v")),
        (["e", "escape", "4"], ApprovalDecision(choice="deny")),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
async def test_keys_decide_once_the_dialog_is_armed(keys: list[str], decision: ApprovalDecision):
    host = Host()
    async with host.run_test() as pilot:
        asked = await ask(host, pilot)
        await asked.arm()
        for key in keys:
            await asked.press("space" if key == " " else key)
            if not asked.screen.reads_keys():
                continue
            if not asked.screen.armed:
                asked.clock.advance(1.0)
        await until(pilot, lambda: asked.decisions)
        assert asked.decisions == [("r1", decision)]
        assert asked.typed == ""


async def test_enter_alone_does_nothing():
    host = Host()
    async with host.run_test() as pilot:
        asked = await ask(host, pilot)
        await asked.arm()
        await asked.press("enter", "enter")
        assert asked.decisions == []
        assert asked.screen.query_one(ChoiceList).highlighted == -1


async def test_typing_for_the_composer_is_passed_on_and_never_answers():
    host = Host()
    async with host.run_test() as pilot:
        asked = await ask(host, pilot)
        for char in "yes 1 please add 2 apples":
            await pilot.press("space" if char == " " else char)
            asked.clock.advance(0.05)
        await pilot.press("enter")
        asked.clock.advance(0.3)
        await pilot.pause()
        assert not asked.screen.armed
        assert asked.decisions == []
        assert asked.typed == "yes 1 please add 2 apples"
        assert [said.key for said in host.hear(ApprovalScreen.TypedEarly)][-1] == "enter"
        assert "wait" in painted(host)


async def test_a_slow_typist_is_safe_too():
    host = Host()
    async with host.run_test() as pilot:
        asked = await ask(host, pilot)
        await asked.arm()
        await asked.press(*"h2o")
        assert asked.decisions == []
        assert asked.typed == "h2o"


@pytest.mark.parametrize("armed", [True, False])
async def test_a_paste_never_answers(armed: bool):
    host = Host()
    async with host.run_test() as pilot:
        asked = await ask(host, pilot)
        if armed:
            await asked.arm()
        host.post_message(events.Paste("1\n"))
        await until(pilot, lambda: asked.typed)
        asked.clock.advance(0.1)
        await pilot.pause()
        assert asked.decisions == []
        assert asked.typed == "1\n"
        assert not asked.screen.armed


async def test_a_paste_that_arrives_as_keys_never_answers():
    host = Host()
    async with host.run_test() as pilot:
        asked = await ask(host, pilot)
        await asked.arm()
        await pilot.press(*"1234", "enter")
        asked.clock.advance(0.3)
        await pilot.pause()
        assert asked.decisions == []
        assert asked.typed == "1234"


async def test_a_held_key_never_answers():
    host = Host()
    async with host.run_test() as pilot:
        asked = await ask(host, pilot)
        await asked.arm()
        for _ in range(30):
            await pilot.press("1")
            asked.clock.advance(0.03)
        await pilot.pause()
        assert asked.decisions == []


async def test_a_click_answers_only_when_it_began_armed():
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        asked = await ask(host, pilot)
        await pilot.click("#choices", offset=(8, 0))
        assert asked.decisions == []
        await asked.arm()
        host.app_focus = False
        await pilot.pause()
        host.app_focus = True
        await pilot.click("#choices", offset=(8, 0))
        assert asked.decisions == [], "the click that focused the window"
        asked.clock.advance(1.0)
        await until(pilot, lambda: asked.screen.armed)
        await pilot.click("#choices", offset=(8, 0))
        await until(pilot, lambda: asked.decisions)
        assert asked.decisions == [("r1", ApprovalDecision(choice="once"))]


async def test_the_dialog_stays_until_the_engine_confirms_and_takes_one_answer():
    host = Host()
    async with host.run_test() as pilot:
        asked = await ask(host, pilot)
        await asked.arm()
        await asked.press("1", "4", "escape")
        assert len(asked.decisions) == 1
        assert host.screen is asked.screen
        await until(pilot, lambda: "answered" in painted(host))
        asked.screen.close(ApprovalDecision(choice="once"))
        await until(pilot, lambda: host.screen is not asked.screen)
        await until(pilot, lambda: host.results == [ApprovalDecision(choice="once")])
        asked.screen.close(ApprovalDecision(choice="deny"))
        await pilot.pause()
        assert len(host.results) == 1
        assert len(host.screen_stack) == 1


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        (ApprovalDecision(choice="deny", by="timeout"), "Nobody answered in time"),
        (ApprovalDecision(choice="session"), "Answered elsewhere: allowed for this session."),
        (ApprovalDecision(choice="deny", by="interrupt"), ""),
    ],
)
async def test_an_answer_from_elsewhere_closes_it_with_a_word(decision: ApprovalDecision, words: str):
    host = Host()
    async with host.run_test() as pilot:
        asked = await ask(host, pilot)
        asked.screen.close(decision)
        await until(pilot, lambda: host.screen is not asked.screen)
        await until(pilot, lambda: host.results)
        said = [note.message for note in host._notifications]
        assert (words in " ".join(said)) if words else not said
        assert asked.decisions == []


async def test_two_requests_are_answered_each_under_its_own_id():
    host = Host()
    async with host.run_test() as pilot:
        first = await ask(host, pilot, count=2)
        await first.arm()
        await first.press("1")
        await until(pilot, lambda: first.decisions)
        first.screen.close(first.decisions[0][1])
        second = await ask(host, pilot, dataclasses.replace(REQUEST, request_id="r2"), position=1, count=1)
        await pilot.press("1")
        assert len(second.decisions) == 1, "the same key, still down, does not answer the next one"
        await second.arm()
        await second.press("4")
        await until(pilot, lambda: len(second.decisions) == 2)
        assert [(id, said.choice) for id, said in second.decisions] == [("r1", "once"), ("r2", "deny")]


async def test_it_closes_behind_a_screen_on_top_of_it():
    host = Host()
    async with host.run_test() as pilot:
        asked = await ask(host, pilot)
        top = ApprovalScreen(dataclasses.replace(REQUEST, request_id="top"))
        host.open(top)
        await until(pilot, lambda: host.screen is top and top.is_mounted)
        asked.screen.close(ApprovalDecision(choice="deny"))
        await pilot.pause()
        assert host.screen is top
        top.close(None)
        await until(pilot, lambda: len(host.screen_stack) == 1)


async def test_fifty_dialogs_open_and_close_with_escape_and_enter_in_one_tick():
    host = Host()
    async with host.run_test() as pilot:
        for number in range(50):
            screen = ApprovalScreen(dataclasses.replace(REQUEST, request_id=f"r{number}"), pacing=Pacing(arm_s=0))
            host.open(screen)
            await until(pilot, lambda screen=screen: screen.is_mounted and screen.armed)
            host.post_message(events.Key("escape", None))
            host.post_message(events.Key("enter", "\r"))
            screen.close(ApprovalDecision(choice="deny", by="interrupt"))
            screen.close(ApprovalDecision(choice="once", by="interrupt"))
            await until(pilot, lambda: len(host.screen_stack) == 1)
        await until(pilot, lambda: len(host.results) == 50)
        assert set(host.results) == {ApprovalDecision(choice="deny", by="interrupt")}


async def test_always_is_not_offered_without_a_rule():
    host = Host()
    async with host.run_test() as pilot:
        asked = await ask(host, pilot, dataclasses.replace(REQUEST, always_rules=()))
        await asked.arm()
        assert "Always" not in painted(host)
        await asked.press("3")
        assert asked.decisions == []


async def test_the_rules_that_always_would_store_are_shown():
    host = Host()
    async with host.run_test(size=(120, 30)) as pilot:
        await ask(host, pilot, dataclasses.replace(REQUEST, always_rules=("git push origin", "rm build")))
        await until(pilot, lambda: "stores: git push origin + rm build" in painted(host))


async def test_ctrl_c_asks_for_an_interrupt():
    host = Host()
    async with host.run_test() as pilot:
        asked = await ask(host, pilot)
        await pilot.press("ctrl+c")
        await until(pilot, lambda: host.hear(ApprovalScreen.InterruptWanted))
        assert asked.decisions == []


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (40, 12), (20, 6), (20, 5)])
async def test_all_answers_and_all_text_are_reachable_at_any_size(size: tuple[int, int]):
    text = "echo " + "a" * 3000 + "; rm -r build"
    host = Host()
    async with host.run_test(size=size) as pilot:
        asked = await ask(host, pilot, dataclasses.replace(REQUEST, text=text))
        await asked.arm()
        await until(pilot, lambda: "deny" in painted(host).lower() and "once" in painted(host))
        rows = painted(host)
        for word in ("once", "session", "deny"):
            assert word in rows.lower()
        assert re.search(r"\d more", rows) or size[1] < 6
        body = asked.screen.query_one(CommandView)
        await asked.press("end")
        await until(pilot, lambda: body.hidden_below == 0)
        tail = painted(host).replace("\u2502", "").replace("\n", "").replace(" ", "")
        assert "build" in tail
        await asked.press("4")
        await until(pilot, lambda: asked.decisions)


@pytest.mark.parametrize("size", [(1, 1), (2, 40), (12, 3), (500, 200)])
async def test_extreme_sizes_do_no_harm(size: tuple[int, int]):
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        asked = await ask(host, pilot)
        await pilot.resize_terminal(*size)
        await pilot.pause()
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: "Allow once" in painted(host))
        assert host.screen is asked.screen


async def test_the_countdown_and_the_place_in_the_queue_are_visible():
    host = Host()
    async with host.run_test() as pilot:
        asked = await ask(host, pilot, dataclasses.replace(REQUEST, deadline_s=90), position=1, count=3)
        await until(pilot, lambda: "1 of 3" in painted(host))
        assert "denied in 1:" in painted(host)
        asked.screen.set_queue(1, 4)
        await until(pilot, lambda: "1 of 4" in painted(host))


async def test_markup_in_a_request_is_drawn_as_written():
    host = Host()
    text = "sed -n '[/b]p' f; echo \"[phase=2: total] 3\" x[a=b:"
    async with host.run_test(size=(100, 30)) as pilot:
        odd = dataclasses.replace(
            REQUEST, text=text, reasons=("[red]why[/red]",), agent_id="[b]x", always_rules=("[/i]",)
        )
        await ask(host, pilot, odd)
        await until(pilot, lambda: text in painted(host))
        for words in ("[red]why[/red]", "[b]x", "[/i]"):
            assert words in painted(host)
