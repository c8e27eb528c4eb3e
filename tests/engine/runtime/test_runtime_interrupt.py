"""The cancel token: one object per run, children, hooks, a reason."""

from __future__ import annotations

import threading

from support.scripted import GUARD_S, join, start

from hermes_tui.engine.runtime.interrupt import CancelToken


def test_cancelling_runs_every_hook_once_and_keeps_the_first_reason() -> None:
    token, ran = CancelToken(), []
    token.on_cancel(lambda: ran.append("a"))
    token.on_cancel(lambda: ran.append("b"))
    token.cancel("user")
    token.cancel("timeout")
    assert (ran, token.cancelled, token.reason) == (["a", "b"], True, "user")


def test_a_hook_added_after_cancellation_runs_at_once() -> None:
    token, ran = CancelToken(), []
    token.cancel()
    token.on_cancel(lambda: ran.append(1))
    assert ran == [1]


def test_a_removed_hook_does_not_run() -> None:
    token, ran = CancelToken(), []
    token.on_cancel(lambda: ran.append(1))()
    token.cancel()
    assert ran == []


def test_a_hook_that_fails_does_not_stop_the_others() -> None:
    token, ran = CancelToken(), []
    token.on_cancel(lambda: 1 / 0)
    token.on_cancel(lambda: ran.append(1))
    token.cancel()
    assert ran == [1]


def test_a_parent_cancels_its_children_with_its_reason_but_not_the_other_way() -> None:
    parent = CancelToken()
    child, other = parent.child(), parent.child()
    child.cancel("timeout")
    assert not parent.cancelled and not other.cancelled
    parent.cancel("user")
    assert (child.reason, other.reason) == ("timeout", "user")


def test_a_child_of_a_cancelled_token_is_born_cancelled() -> None:
    parent = CancelToken()
    parent.cancel("close")
    assert parent.child().reason == "close"


def test_a_closed_child_leaves_its_parent() -> None:
    parent, ran = CancelToken(), []
    child = parent.child()
    child.on_cancel(lambda: ran.append(1))
    child.close()
    parent.cancel()
    assert ran == [] and not child.cancelled


def test_waiting_ends_when_another_thread_cancels() -> None:
    token = CancelToken()
    thread = start(lambda: token.wait(GUARD_S))
    token.cancel()
    join(thread)
    assert token.wait(0)


def test_cancel_soon_marks_at_once_and_runs_hooks_elsewhere() -> None:
    token, release, ran_on = CancelToken(), threading.Event(), []

    def slow() -> None:
        release.wait(GUARD_S)
        ran_on.append(threading.current_thread().name)

    done = threading.Event()
    token.on_cancel(slow)
    token.on_cancel(done.set)
    token.cancel_soon("user")
    assert token.cancelled and ran_on == []
    release.set()
    assert done.wait(GUARD_S) and ran_on == ["cancel-hooks"]
