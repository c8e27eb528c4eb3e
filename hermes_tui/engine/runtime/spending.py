"""Keeps a conversation and its subagents within their limits: warns, asks the person for more, or stops."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TypeAlias

from ..config.settings import BudgetSettings
from ..policy.budget import SpendLimits, Spent
from ..types.events import Event, Notice

GO_ON, STOP = "Go on", "Stop"

AskUser: TypeAlias = Callable[[str, Sequence[str]], str]
"""Asks the person a question; empty when nobody is there."""


class Spending:
    """Lives as long as the agent. Subagents ask it too, several at once; each method may be called from any thread.

    Args:
        settings: The limits.
        emit: Takes the notices.
        spent: Returns what the running turn and the session used so far, subagents included, and whether the price of
            any part is unknown.
    """

    def __init__(
        self,
        settings: BudgetSettings,
        emit: Callable[[Event], None],
        spent: Callable[[], tuple[Spent, Spent, bool]],
    ) -> None:
        self._limits = SpendLimits(
            turn_tokens=settings.max_tokens_per_turn,
            session_tokens=settings.max_tokens,
            turn_usd=settings.max_cost_usd_per_turn,
            session_usd=settings.max_cost_usd,
        )
        self._emit = emit
        self._spent = spent
        self._lock = threading.Lock()
        self._refusal = ""
        self._has_told_price = False

    @property
    def session_usd(self) -> float:
        """What the session may cost at present; 0 without a limit."""
        return self._limits.session_usd

    def start_session(self) -> None:
        """Another session begins."""
        with self._lock:
            self._limits.start("session")

    def start_turn(self) -> None:
        """A turn begins; a refusal in the one before does not count any more."""
        with self._lock:
            self._limits.start("turn")
            self._refusal = ""

    def refusal(self, ask: AskUser) -> str:
        """Say why no further request may be made; empty when it may. Blocks while the person is asked.

        One question for all: while one agent asks, the others wait for the same answer.
        """
        with self._lock:
            if self._refusal:
                return self._refusal
            turn, session, is_partly_unknown = self._spent()
            self._limits.count(turn, session)
            self._warn(is_partly_unknown)
            exhausted = self._limits.exhausted()
            if not exhausted:
                return ""
            words = " and ".join(cap.words for cap in exhausted)
            more = " and ".join(cap.size_words for cap in exhausted)
            question = f"{words[0].upper()}{words[1:]}. Go on with another {more}?"
            if ask(question, (GO_ON, STOP)) == GO_ON:
                for cap in exhausted:
                    cap.extend()
                return ""
            self._refusal = f"The budget is used up: {words}."
            return self._refusal

    def _warn(self, is_partly_unknown: bool) -> None:
        for cap in self._limits.newly_near():
            self._emit(
                Notice(
                    level="warning",
                    text=f"Most of a limit is used: {cap.words}.",
                    hint="You are asked when it is reached.",
                    kind="budget",
                )
            )
        if is_partly_unknown and self._limits.has_money_cap and not self._has_told_price:
            self._has_told_price = True
            self._emit(
                Notice(
                    level="warning",
                    text="The price of this model is unknown, so the cost limit cannot be kept for it.",
                    hint="A limit on tokens can: budget.max_tokens.",
                    kind="budget",
                )
            )
