"""Budgets, retry rules and guardrails: small tables without any I/O."""

from __future__ import annotations

import pytest

from hermes_tui.engine.policy.budget import IterationBudget, SpendLimits, Spent
from hermes_tui.engine.policy.guardrails import Guardrails
from hermes_tui.engine.policy.retry import rule_for, wait_before
from hermes_tui.engine.types.errors import (
    AuthError,
    BadRequest,
    ContextOverflow,
    ModelNotFound,
    Overloaded,
    ProviderError,
    RateLimited,
    StreamBroken,
)


def test_an_iteration_budget_runs_out() -> None:
    budget = IterationBudget(2)
    assert [budget.consume() for _ in range(3)] == [True, True, False]
    assert budget.remaining == 0


def test_a_cap_is_mentioned_once_when_it_is_near_and_then_used_up() -> None:
    limits = SpendLimits(turn_tokens=100, session_usd=2.0)
    limits.count(Spent(79), Spent(10**9, 1.0))
    assert not list(limits.newly_near()) and not limits.exhausted()
    limits.count(Spent(80), Spent(10**9, 1.7))
    assert [cap.words for cap in limits.newly_near()] == [
        "this turn has used 80 of 100 tokens",
        "this session has cost $1.70 of $2.00",
    ]
    assert not list(limits.newly_near())
    limits.count(Spent(130), Spent(10**9, 2.0))
    assert [cap.size_words for cap in limits.exhausted()] == ["100 tokens", "$2.00"]


def test_an_extension_gives_as_much_room_again_however_far_the_cap_was_passed() -> None:
    limits = SpendLimits(session_tokens=100)
    limits.count(Spent(), Spent(350))
    (cap,) = limits.exhausted()
    cap.extend()
    limits.count(Spent(), Spent(449))
    assert not limits.exhausted() and [near.used for near in limits.newly_near()] == [449]
    limits.start("turn")
    limits.count(Spent(), Spent(450))
    assert limits.exhausted() == [cap], "a turn does not begin the session anew"
    limits.start("session")
    assert cap.limit == 100 and not limits.exhausted()


def test_without_a_cap_nothing_is_ever_used_up() -> None:
    limits = SpendLimits()
    limits.count(Spent(10**9, 10.0**9), Spent(10**9, 10.0**9))
    assert not limits.exhausted() and not list(limits.newly_near()) and not limits.has_money_cap


@pytest.mark.parametrize(
    ("error", "attempts", "falls_back"),
    [
        (RateLimited("x"), 4, True),
        (Overloaded("x"), 3, True),
        (StreamBroken("x"), 3, True),
        (AuthError("x"), 1, True),
        (ModelNotFound("x"), 1, True),
        (ContextOverflow("x"), 1, False),
        (BadRequest("x"), 1, False),
        (ProviderError("x"), 1, False),
    ],
)
def test_each_failure_has_its_rule(error: ProviderError, attempts: int, falls_back: bool) -> None:
    assert (rule_for(error).attempts, rule_for(error).can_fall_back) == (attempts, falls_back)


@pytest.mark.parametrize(
    ("attempt", "retry_after_s", "wait_s"),
    [(2, None, 2), (3, None, 4), (4, None, 8), (9, None, 60), (2, 0.8, 0.8), (2, 9_999, 600), (2, -5, 0)],
)
def test_waits_double_up_to_a_minute_and_the_providers_word_wins(
    attempt: int, retry_after_s: float | None, wait_s: float
) -> None:
    assert wait_before(attempt, RateLimited("x", retry_after_s=retry_after_s), jitter=lambda: 0.0) == wait_s


def test_jitter_lengthens_a_wait_by_a_quarter_at_most() -> None:
    assert wait_before(2, Overloaded("x"), jitter=lambda: 1.0) == 2.5


def failing(guard: Guardrails, count: int, arguments: str = "{}") -> list[str]:
    return [guard.record("t", arguments, ok=False, result="", read_only=False) for _ in range(count)]


def test_the_same_failure_warns_from_the_third_and_blocks_after_the_fifth() -> None:
    guard = Guardrails()
    warnings = failing(guard, 5)
    assert [bool(warning) for warning in warnings] == [False, False, True, True, True]
    assert guard.block("t", "{}") and not guard.block("t", '{"a":1}') and not guard.stop_reason


def test_a_success_forgets_failures() -> None:
    guard = Guardrails()
    failing(guard, 4)
    guard.record("t", "{}", ok=True, result="", read_only=False)
    assert not any(failing(guard, 2)) and not guard.block("t", "{}")


def test_a_tool_that_fails_eight_times_stops_the_turn() -> None:
    guard = Guardrails()
    for number in range(8):
        assert not guard.stop_reason
        failing(guard, 1, f'{{"n":{number}}}')
    assert "t failed 8 times" in guard.stop_reason


def reading(guard: Guardrails, result: str) -> str:
    return guard.record("read", "{}", ok=True, result=result, read_only=True)


def test_an_identical_read_warns_from_the_third_and_is_blocked_after_the_fifth() -> None:
    guard = Guardrails()
    assert [bool(reading(guard, "same")) for _ in range(5)] == [False, False, True, True, True]
    assert guard.block("read", "{}")


def test_a_read_that_changes_or_a_write_between_starts_anew() -> None:
    guard = Guardrails()
    for result in ("a", "a", "b", "b"):
        assert not reading(guard, result)
    guard.record("write", "{}", ok=True, result="", read_only=False)
    assert not reading(guard, "b")


def test_three_steps_without_a_usable_call_stop_the_turn() -> None:
    guard = Guardrails()
    for usable in (False, False, True, False, False):
        guard.record_step(usable=usable)
    assert not guard.stop_reason
    guard.record_step(usable=False)
    assert guard.stop_reason
