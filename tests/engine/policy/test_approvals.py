"""The broker: first answer wins, identical asks are one question, nobody waits for nothing."""

from __future__ import annotations

from dataclasses import replace

from support.scripted import GUARD_S, join, start

from hermes_tui.engine.policy.approvals import Approvals
from hermes_tui.engine.runtime.interrupt import CancelToken
from hermes_tui.engine.types.events import ApprovalRequested, ApprovalResolved, ClarifyRequested, ClarifyResolved, Event
from hermes_tui.engine.types.requests import ApprovalDecision, ApprovalRequest, ClarifyAnswer, ClarifyRequest

REQUEST = ApprovalRequest(
    request_id="r1", call_ids=("c1",), tool="terminal", action="command", text="rm x", reasons=("danger",)
)
QUESTION = ClarifyRequest(request_id="q1", call_id="c1", question="Which?")


class Desk:
    """A broker with a surface, its events, and answers collected from threads."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.broker = Approvals(self.events.append)
        self.detach = self.broker.attach_surface()
        self.decisions: list[ApprovalDecision] = []

    def ask(self, request: ApprovalRequest = REQUEST, token: CancelToken | None = None):
        before = len(self.broker._approvals)
        calls = sum(len(waiting.call_ids) for waiting in self.broker._approvals.values())
        thread = start(lambda: self.decisions.append(self.broker.request(request, token or CancelToken())))
        while thread.is_alive() and (
            len(self.broker._approvals) == before
            and sum(len(waiting.call_ids) for waiting in self.broker._approvals.values()) == calls
        ):
            thread.join(0.001)
        return thread


def test_the_first_answer_wins_and_later_ones_are_told_so() -> None:
    desk = Desk()
    thread = desk.ask()
    assert desk.broker.resolve("r1", ApprovalDecision(choice="once"))
    assert not desk.broker.resolve("r1", ApprovalDecision(choice="deny"))
    join(thread)
    assert [decision.choice for decision in desk.decisions] == ["once"]
    assert [type(event) for event in desk.events] == [ApprovalRequested, ApprovalResolved]


def test_an_answer_to_an_unknown_request_is_refused() -> None:
    assert not Desk().broker.resolve("nope", ApprovalDecision(choice="once"))


def test_identical_asks_are_one_question_with_all_their_calls() -> None:
    desk = Desk()
    threads = [desk.ask(), desk.ask(replace(REQUEST, request_id="r2", call_ids=("c2",)))]
    assert desk.broker.resolve("r1", ApprovalDecision(choice="once"))
    for thread in threads:
        join(thread)
    assert [decision.choice for decision in desk.decisions] == ["once", "once"]
    resolved = [event for event in desk.events if isinstance(event, ApprovalResolved)]
    assert [event.call_ids for event in resolved] == [("c1", "c2")]


def test_asks_of_another_agent_or_folder_are_questions_of_their_own() -> None:
    desk = Desk()
    threads = [
        desk.ask(),
        desk.ask(replace(REQUEST, request_id="r2", agent_id="helper")),
        desk.ask(replace(REQUEST, request_id="r3", cwd="/elsewhere")),
    ]
    for number in (1, 2, 3):
        assert desk.broker.resolve(f"r{number}", ApprovalDecision(choice="once"))
    for thread in threads:
        join(thread)


def test_a_cancelled_call_is_denied_by_interrupt_and_asks_nobody() -> None:
    desk, token = Desk(), CancelToken()
    thread = desk.ask(token=token)
    token.cancel()
    join(thread)
    assert (desk.decisions[0].choice, desk.decisions[0].by) == ("deny", "interrupt")
    count = len(desk.events)
    assert desk.broker.request(REQUEST, token).by == "interrupt" and len(desk.events) == count


def test_a_deadline_denies_by_timeout() -> None:
    desk = Desk()
    decision = desk.broker.request(replace(REQUEST, deadline_s=0.01), CancelToken())
    assert (decision.choice, decision.by) == ("deny", "timeout")
    assert isinstance(desk.events[-1], ApprovalResolved)


def test_a_timeout_is_not_remembered_as_a_refusal() -> None:
    desk = Desk()
    desk.broker.request(replace(REQUEST, deadline_s=0.01), CancelToken())
    thread = desk.ask()
    desk.broker.resolve("r1", ApprovalDecision(choice="once"))
    join(thread)
    assert desk.decisions[0].choice == "once"


def test_without_a_surface_it_is_denied_at_once() -> None:
    desk = Desk()
    desk.detach()
    desk.detach()
    assert desk.broker.request(REQUEST, CancelToken()).by == "no_surface"
    assert desk.broker.ask(QUESTION, CancelToken()) == ClarifyAnswer(text="", by="no_surface")
    assert desk.events == [] and not desk.broker.can_ask


def test_a_question_is_answered_once() -> None:
    desk, answers = Desk(), []
    thread = start(lambda: answers.append(desk.broker.ask(QUESTION, CancelToken())))
    while not desk.broker.answer("q1", ClarifyAnswer(text="a")):
        thread.join(0.001)
    join(thread)
    assert answers == [ClarifyAnswer(text="a")] and not desk.broker.answer("q1", ClarifyAnswer(text="b"))
    assert [type(event) for event in desk.events] == [ClarifyRequested, ClarifyResolved]


def test_a_callback_answers_in_place_of_a_surface_while_an_interrupt_still_works() -> None:
    token, gone = CancelToken(), CancelToken()

    def clarifier(request: ClarifyRequest) -> ClarifyAnswer:
        gone.wait(GUARD_S)
        return ClarifyAnswer(text="late")

    broker = Approvals(lambda event: None, approver=lambda r: ApprovalDecision(choice="once"), clarifier=clarifier)
    assert broker.request(REQUEST, CancelToken()).choice == "once"
    answers: list[ClarifyAnswer] = []
    thread = start(lambda: answers.append(broker.ask(QUESTION, token)))
    token.cancel()
    join(thread)
    gone.cancel()
    assert answers == [ClarifyAnswer(text="", by="interrupt")]
