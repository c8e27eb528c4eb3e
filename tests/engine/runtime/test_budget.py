"""Limits on tokens and money: told when near, asked about when reached, shared with subagents, never passed unseen."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.scripted import NO_TITLE, Bench, ScriptedClient, bench, call, echo_tools, say

from hermes_tui.engine.config.settings import AuxiliarySettings, BudgetSettings
from hermes_tui.engine.runtime.ports import MessageStore
from hermes_tui.engine.types.events import ClarifyRequested, Notice, UsageUpdated
from hermes_tui.engine.types.requests import ClarifyAnswer
from hermes_tui.tools import delegate

QUIET = {"title": AuxiliarySettings(enabled=False)}


def limited(folder: Path, *, answer: str | None = None, store: MessageStore | None = None, **more: Any) -> Bench:
    """An agent that calls a tool with every answer; each request takes 15 tokens and half a cent."""
    budget = BudgetSettings(**{name: more.pop(name) for name in list(more) if name.startswith("max_")})
    settings = replace(NO_TITLE, budget=budget, auxiliary=QUIET)
    if answer is not None:
        more["callbacks"] = {"on_clarify_needed": lambda question: answer}
    return bench([], folder, settings=settings, store=store, **more)


def steps(count: int) -> list[Any]:
    return [call(("echo", f'{{"text":"{number}"}}'), first_id=number) for number in range(count)]


def run(made: Bench, *replies: Any) -> dict[str, Any]:
    made.client._replies = list(replies)
    return made.agent.run_conversation("go")


def notices(made: Bench) -> list[str]:
    return [event.text for event in made.of(Notice) if event.kind == "budget"]


LIMITS: dict[str, tuple[dict[str, Any], str]] = {
    "tokens of a turn": ({"max_tokens_per_turn": 45}, "this turn has used 45 of 45 tokens"),
    "tokens of a session": ({"max_tokens": 45}, "this session has used 45 of 45 tokens"),
    "money of a turn": ({"max_cost_usd_per_turn": 0.015}, "this turn has cost $0.01 of $0.01"),
    "money of a session": ({"max_cost_usd": 0.015}, "this session has cost $0.01 of $0.01"),
}


@pytest.mark.parametrize(("limits", "words"), LIMITS.values(), ids=LIMITS.keys())
def test_without_anybody_to_ask_the_turn_sums_up_and_ends(limits: dict[str, Any], words: str, tmp_path: Path) -> None:
    made = limited(tmp_path, **limits)
    result = run(made, *steps(3), say("what I did"))
    assert (result["exit_reason"], result["final_response"], result["api_calls"]) == ("budget", "what I did", 4)
    assert made.client.requests[-1].tools == ()
    assert words in notices(made)[-1] and "Asking for a summary" in notices(made)[-1]


def test_a_limit_is_told_once_when_most_of_it_is_used(tmp_path: Path) -> None:
    made = limited(tmp_path, max_tokens=70, answer="Stop")
    run(made, *steps(4), say("done"))
    assert [text for text in notices(made) if "Most of" in text] == [
        "Most of a limit is used: this session has used 60 of 70 tokens."
    ]


@pytest.mark.parametrize(("limits", "words"), LIMITS.values(), ids=LIMITS.keys())
def test_the_person_may_give_as_much_again(limits: dict[str, Any], words: str, tmp_path: Path) -> None:
    made = limited(tmp_path, answer="Go on", **limits)
    assert run(made, *steps(5), say("done"))["exit_reason"] == "done"
    asked = made.of(ClarifyRequested)
    assert len(asked) == 1 and words in asked[0].request.question.lower()
    assert asked[0].request.choices == ("Go on", "Stop")


def test_what_a_person_gave_to_a_session_lasts_and_a_turns_limit_begins_anew(tmp_path: Path) -> None:
    made = limited(tmp_path, answer="Go on", max_tokens=45)
    run(made, *steps(3), say("one"))
    assert run(made, say("two"))["completed"] and len(made.of(ClarifyRequested)) == 1
    turns = limited(tmp_path, max_tokens_per_turn=45)
    for _ in range(3):
        assert run(turns, *steps(1), say("ok"))["completed"]


def test_once_a_session_is_used_up_the_next_turn_sends_nothing(tmp_path: Path) -> None:
    made = limited(tmp_path, max_tokens=45)
    run(made, *steps(3), say("sum"))
    before = len(made.client.requests)
    result = run(made)
    assert len(made.client.requests) == before
    assert result["exit_reason"] == "budget" and "used up" in result["errors"][0]
    assert "Nothing was sent" in str(made.rows()[-1]["content"]) and made.roles()[-2:] == ["user", "assistant"]
    assert "Nothing was sent" in notices(made)[-1]


def test_a_resumed_session_goes_on_counting_where_it_was(tmp_path: Path) -> None:
    made = limited(tmp_path, max_tokens=45)
    run(made, *steps(2), say("ok"))
    again = limited(tmp_path, max_tokens=40, store=made.store, session_id=made.agent.session_id)
    assert run(again)["exit_reason"] == "budget"


def test_a_price_that_nobody_knows_is_told_once_and_costs_nothing(tmp_path: Path) -> None:
    made = limited(tmp_path, max_cost_usd=0.01, parts={"cost_usd": lambda endpoint, usage: None})
    assert run(made, *steps(3), say("ok"))["completed"]
    assert [text for text in notices(made) if "price" in text] == notices(made) and len(notices(made)) == 1


def test_the_screen_hears_what_a_session_may_cost_at_present(tmp_path: Path) -> None:
    made = limited(tmp_path, answer="Go on", max_cost_usd=0.01)
    run(made, *steps(3), say("ok"))
    caps = [event.cost_cap_usd for event in made.of(UsageUpdated)]
    assert caps[0] == 0.01 and caps[-1] == pytest.approx(0.02)


def test_an_interrupt_while_the_question_waits_ends_the_turn_without_a_request(tmp_path: Path) -> None:
    made = limited(tmp_path, max_tokens=15)
    made.agent.approvals.attach_surface()
    made.agent.hub.subscribe(lambda event: made.agent.interrupt() if isinstance(event, ClarifyRequested) else None)
    assert run(made, *steps(1), say("never"))["exit_reason"] == "interrupted"
    assert len(made.client.requests) == 1


class Crew:
    """One script for the parent; each subagent calls a tool twice, then reports."""

    def __init__(self, parent: list[Any]) -> None:
        self.parent = ScriptedClient(parent)
        self.children: dict[str, ScriptedClient] = {}
        self._lock = threading.Lock()

    def stream(self, request: Any, control: Any) -> Any:
        asked = str(request.messages[1]["content"])
        if "task" not in asked:
            return self.parent.stream(request, control)
        with self._lock:
            client = self.children.setdefault(asked[:6], ScriptedClient([*steps(2), say("report"), say("sum")]))
        return client.stream(request, control)


def crew(folder: Path, **more: Any) -> tuple[Bench, Crew]:
    registry = echo_tools()
    registry.register("delegate_task", delegate.SCHEMA, delegate.run, toolset="delegate", needs="delegation")
    tasks = json.dumps({"tasks": [{"goal": f"task {key}"} for key in "abc"]})
    clients = Crew([call(("delegate_task", tasks)), say("all done")])
    return limited(folder, registry=registry, parts={"client_for": lambda mode: clients}, **more), clients


def _answer(made: Bench, text: str) -> Callable[[Any], None]:
    def answer(event: Any) -> None:
        if isinstance(event, ClarifyRequested):
            threading.Thread(
                target=made.agent.approvals.answer, args=(event.request.request_id, ClarifyAnswer(text=text, by="user"))
            ).start()

    return answer


def test_subagents_spend_from_the_same_limits_and_one_answer_counts_for_all(tmp_path: Path) -> None:
    made, clients = crew(tmp_path, max_tokens_per_turn=40)
    made.agent.approvals.attach_surface()
    made.agent.hub.subscribe(_answer(made, "Stop"))
    result = made.agent.run_conversation("go")
    assert len(made.of(ClarifyRequested)) == 1 and result["exit_reason"] == "budget"
    (reports,) = [json.loads(str(row["content"]))["reports"] for row in made.rows() if row["role"] == "tool"]
    assert "budget" in [report["status"] for report in reports]
    spent = sum(len(client.requests) for client in clients.children.values())
    assert spent < 3 * 3, "the others stopped too"


def test_subagents_go_on_when_the_person_says_so(tmp_path: Path) -> None:
    made, _ = crew(tmp_path, max_tokens_per_turn=60)
    made.agent.approvals.attach_surface()
    made.agent.hub.subscribe(_answer(made, "Go on"))
    assert made.agent.run_conversation("go")["exit_reason"] == "done"
    assert made.of(ClarifyRequested)
