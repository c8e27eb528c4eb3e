"""The hub numbers events, keeps one order for all, and survives bad sinks."""

from __future__ import annotations

from support.scripted import join, start

from hermes_tui.engine.runtime.hub import Hub
from hermes_tui.engine.types.events import Event, Notice, TextDelta


def test_events_are_stamped_with_number_session_turn_and_agent() -> None:
    hub, seen = Hub("s1", "helper"), []
    hub.turn_id = "t1"
    hub.subscribe(seen.append)
    hub.emit(TextDelta(text="a"))
    hub.emit(TextDelta(text="b"))
    assert [(e.seq, e.session_id, e.turn_id, e.agent_id) for e in seen] == [
        (1, "s1", "t1", "helper"),
        (2, "s1", "t1", "helper"),
    ]
    assert all(e.at > 0 for e in seen)


def test_a_sink_that_raises_is_dropped_and_the_others_still_hear() -> None:
    hub, seen, calls = Hub(), [], []

    def bad(event: Event) -> None:
        calls.append(event)
        raise ValueError("broken sink")

    hub.subscribe(bad)
    hub.subscribe(seen.append)
    hub.emit(TextDelta(text="a"))
    hub.emit(TextDelta(text="b"))
    assert len(calls) == 1
    assert [e.text for e in seen] == ["a", "b"]


def test_an_unsubscribed_sink_hears_nothing_more() -> None:
    hub, seen = Hub(), []
    stop = hub.subscribe(seen.append)
    stop()
    hub.emit(TextDelta(text="a"))
    assert seen == []


def test_an_event_emitted_by_a_sink_reaches_every_sink_after_the_first_one() -> None:
    hub, first, second = Hub(), [], []

    def answering(event: Event) -> None:
        first.append(event)
        if isinstance(event, TextDelta):
            hub.emit(Notice(level="info", text="answer"))

    hub.subscribe(answering)
    hub.subscribe(second.append)
    hub.emit(TextDelta(text="a"))
    assert [type(e) for e in first] == [type(e) for e in second] == [TextDelta, Notice]


def test_numbers_strictly_increase_for_each_sink_whatever_threads_emit() -> None:
    hub, seen = Hub(), []
    hub.subscribe(seen.append)

    def burst() -> None:
        for _ in range(500):
            hub.emit(TextDelta(text="x"))

    for thread in [start(burst) for _ in range(4)]:
        join(thread)
    assert [e.seq for e in seen] == list(range(1, 2001))
