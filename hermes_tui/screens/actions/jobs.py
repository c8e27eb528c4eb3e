"""Background jobs: look at them, move a command to them, end them, and what leaving means for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from hermes_tui.commands import BY_ID, key_of
from hermes_tui.engine.types.jobs import JobRow
from hermes_tui.widgets.inert import one_line

if TYPE_CHECKING:
    from hermes_tui.screens.chat import ChatScreen

NAMED = 5
"""Jobs that a question names."""


def jobs(chat: ChatScreen, args: str) -> None:
    """What runs in the background: read, answer or end it."""
    del args
    session = chat.turns.session
    if session is None:
        chat.say("Still starting; try again in a moment.")
        return
    from hermes_tui.screens.jobs import JobsScreen

    chat.app.push_screen(JobsScreen(session.jobs, move_key=key_of(BY_ID["background"], chat.ui.keys)))


def background(chat: ChatScreen, args: str) -> None:
    """Let the running command go on as a job."""
    del args
    session = chat.turns.session
    if session is None or not session.jobs.promote():
        chat.say("No command is running.")


def end_all(chat: ChatScreen) -> None:
    """End every job of the session."""
    session, ending = chat.turns.session, running(chat)
    if session is None or not ending:
        chat.say("No jobs are running.")
        return
    for job in ending:
        chat.run_in_thread(partial(session.jobs.kill, job.number), "end job")


def running(chat: ChatScreen) -> list[JobRow]:
    """Return the jobs that end with the session."""
    return [job for job in chat.shell.jobs if job.state == "running" and not job.is_detached]


def confirm_end(chat: ChatScreen, step: str, then: Callable[[], None], *, also: str = "") -> None:
    """Do something that ends jobs, or the turn, once the person has agreed; at once when there is nothing to end.

    Args:
        chat: The screen.
        step: What is done next, as a verb: ``leave``.
        then: Does it.
        also: What else ends, as a sentence.
    """
    ending = running(chat)
    if not ending and not also:
        then()
        return
    from hermes_tui.screens.confirm import ConfirmScreen

    count = len(ending)
    jobs = "jobs are running and end" if count != 1 else "job is running and ends"
    end = f"{count} background {jobs} with this session." if ending else ""
    yes = f"{'Stop' if also else 'End'} {'it' if count + bool(also) == 1 else 'them'} and {step}"
    named = [f"{job.number}  {one_line(job.command)[:60]}" for job in ending[:NAMED]]
    detail = "\n".join([*named, *([f"… {count - NAMED} more"] if count > NAMED else [])])
    question = ConfirmScreen(" ".join(filter(None, (also, end))), yes=yes, no="Stay", detail=detail)
    chat.app.push_screen(question, lambda agreed: then() if agreed else None)
