"""The thread boundary: everything arrives, in order, merged, and nothing wakes up when nothing happens."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from hermes_tui.bridge import Bridge, coalesce
from hermes_tui.engine.types.events import (
    Event,
    Notice,
    ReasoningDelta,
    StepStarted,
    TextDelta,
    ToolDelta,
    ToolOutput,
)

words = st.sampled_from(["a", "bb", "\n", "漢"])
event = st.one_of(
    st.builds(TextDelta, text=words, agent_id=st.sampled_from(["", "child"])),
    st.builds(ReasoningDelta, text=words),
    st.builds(ToolDelta, call_id=st.sampled_from(["c1", "c2"]), fragment=words),
    st.builds(ToolOutput, call_id=st.sampled_from(["c1", "c2"]), text=words),
    st.builds(StepStarted, step=st.just(1)),
)


def told(events: list[Event]) -> list[tuple[str, str, str, str]]:
    """The story letter by letter."""
    letters = []
    for e in events:
        call = getattr(e, "call_id", "")
        text = getattr(e, "text", "") or getattr(e, "fragment", "") or " "
        letters += [(type(e).__name__, e.agent_id, call, letter) for letter in text]
    return letters


@given(st.lists(event, max_size=40))
def test_merging_loses_no_letter_and_keeps_the_order(events: list[Event]) -> None:
    merged = coalesce(events)
    assert told(merged) == told(events)


@given(st.lists(event, max_size=40))
def test_merged_neighbours_cannot_be_merged_further(events: list[Event]) -> None:
    assert coalesce(coalesce(events)) == coalesce(events)


def run(scenario: Callable[[Bridge, list[list[Event]]], object]) -> list[list[Event]]:
    frames: list[list[Event]] = []

    async def main() -> None:
        delivered = asyncio.Event()

        def deliver(events: list[Event]) -> None:
            frames.append(events)
            if any(isinstance(e, Notice) for e in events):
                delivered.set()

        bridge = Bridge(asyncio.get_running_loop(), deliver, frame_s=0.01)
        thread = threading.Thread(target=scenario, args=(bridge, frames))
        thread.start()
        await asyncio.wait_for(delivered.wait(), 10)
        await asyncio.to_thread(thread.join)

    asyncio.run(main())
    return frames


def test_many_events_from_a_thread_come_as_few_frames() -> None:
    def scenario(bridge: Bridge, frames: list[list[Event]]) -> None:
        for n in range(5000):
            bridge.sink(TextDelta(text=str(n % 10)))
        bridge.sink(Notice(level="info", text="end"))

    frames = run(scenario)
    text = "".join(e.text for frame in frames for e in frame if isinstance(e, TextDelta))
    assert text == "".join(str(n % 10) for n in range(5000))
    assert len(frames) < 500


def test_the_first_event_after_silence_does_not_wait_for_a_frame() -> None:
    async def main() -> None:
        seen = asyncio.Event()
        bridge = Bridge(asyncio.get_running_loop(), lambda events: seen.set(), frame_s=3600)
        bridge.sink(TextDelta(text="x"))
        await asyncio.wait_for(seen.wait(), 10)  # an hour's frame would never end

    asyncio.run(main())


def test_a_closed_bridge_delivers_nothing_and_takes_events_quietly() -> None:
    async def main() -> None:
        frames: list[list[Event]] = []
        bridge = Bridge(asyncio.get_running_loop(), frames.append)
        bridge.sink(TextDelta(text="x"))
        bridge.close()
        bridge.sink(TextDelta(text="y"))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert frames == []

    asyncio.run(main())


def test_events_after_the_end_of_the_loop_are_dropped() -> None:
    loop = asyncio.new_event_loop()
    bridge = Bridge(loop, lambda events: None)
    loop.close()
    bridge.sink(TextDelta(text="late"))
