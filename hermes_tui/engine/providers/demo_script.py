"""What the demo says and does, as data: chapters of steps, one step per model request."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..types.messages import ApiMessage, text_of

FOLDER = "hermes-tui-demo"
NOTES = f"{FOLDER}/notes.md"

_TASKS = ("Look around", "Write a note", "Improve it", "Clean up")


@dataclass(frozen=True)
class Seen:
    """What the script may look at: the results since the last user message."""

    results: Mapping[str, str]
    """Tool name -> its latest result, as JSON text."""

    def is_ok(self, tool: str) -> bool:
        """Tell whether the latest call of a tool went well."""
        return bool(self._fields(tool).get("ok"))

    def answer(self) -> str:
        """Return what the person answered to the question, empty when they declined."""
        fields = self._fields("clarify")
        return next((str(fields[key]) for key in ("answer", "text", "response") if fields.get(key)), "")

    def _fields(self, tool: str) -> Mapping[str, Any]:
        try:
            fields = json.loads(self.results.get(tool, "{}"))
        except ValueError:
            return {}
        return fields if isinstance(fields, dict) else {}


@dataclass(frozen=True)
class Step:
    """One answer of the scripted model."""

    text: str | Callable[[Seen], str] = ""
    reasoning: str = ""
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    """Tool name and arguments; a call of a tool that is not offered is left out."""


def _todos(done: int) -> tuple[str, dict[str, Any]]:
    states = ["done"] * done + ["in_progress"] + ["pending"] * len(_TASKS)
    items = [
        {"id": str(number), "content": task, "status": states[number - 1]} for number, task in enumerate(_TASKS, 1)
    ]
    return "todo", {"todos": items}


_OPENING = (
    Step(
        reasoning="The person wants to see how this works. I will make a small plan and follow it with real tools, "
        "in a folder of my own, so that nothing of theirs changes.",
        text="Hello. **This is a demo**: I am a script, no model is running and nothing leaves this machine. "
        "The tools, the approvals and the history are the real ones.\n\nFirst a plan.",
        calls=(_todos(0),),
    ),
    Step(
        text="Now a look around.",
        calls=(("search_files", {"pattern": "*", "path": ".", "target": "files"}),),
    ),
    Step(
        text="I write a note into a folder of my own.",
        calls=(
            _todos(1),
            (
                "write_file",
                {
                    "path": NOTES,
                    "content": "# Notes\n\nThings to try:\n\n- scroll while an answer streams\n- interrupt with Esc\n",
                },
            ),
        ),
    ),
    Step(
        reasoning="An edit should start from what the file really says, so I read it first.",
        text="Then I read it back.",
        calls=(("read_file", {"path": NOTES}),),
    ),
    Step(
        text="And improve one line. You see the change as a diff.",
        calls=(
            _todos(2),
            (
                "patch",
                {
                    "path": NOTES,
                    "old_string": "- interrupt with Esc\n",
                    "new_string": "- interrupt with Esc, then go on\n- search all sessions for a word\n",
                },
            ),
        ),
    ),
    Step(
        text="Finding it again is one search:",
        calls=(("search_files", {"pattern": "sessions", "path": FOLDER, "target": "content"}),),
    ),
    Step(
        text="""\
That was the safe part. In short:

| what | how |
|---|---|
| read, search, edit | ran at once, inside this folder |
| a command that deletes | will ask you first |

```python
def next_step(answer: str) -> str:
    return "clean up" if answer else "wait"
```

Answer anything, for example *clean up*, and I will try to delete my folder. **You decide whether I may.**""",
    ),
)

_CLEANING = (
    Step(
        reasoning="Deleting is a decision for the person. I ask how they want it, and the gate asks once more.",
        text="Before I touch anything, one question.",
        calls=(
            (
                "clarify",
                {
                    "question": f"What should happen to {FOLDER}?",
                    "choices": ["Delete the folder", "Keep it, only show me the question"],
                },
            ),
        ),
    ),
    Step(
        text=lambda seen: (
            f"You said: *{seen.answer()}*. I ask to delete it in either case, so that you see the dialog; "
            "denying is fine."
            if seen.answer()
            else "No answer is an answer, too. I ask to delete the folder now; denying is fine."
        ),
        calls=(("terminal", {"command": f"rm -r {FOLDER}"}),),
    ),
    Step(
        text=lambda seen: (
            "The folder is gone, and the command is in the history with its result."
            if seen.is_ok("terminal")
            else "You did not allow it, or it could not be done. Nothing was deleted: "
            "a denied call is a result like any other, and I go on from there."
        ),
        calls=(_todos(4),),
    ),
    Step(
        text="""\
That is the tour. To talk to a real model:

1. **A key**: type `/setup` and paste one, or set `ANTHROPIC_API_KEY`, `OPENAI_API_KEY` or `OPENROUTER_API_KEY`.
2. **A model on this machine**: start Ollama, LM Studio, llama.cpp or vLLM; it is found by itself.
3. **Choose**: `/model` lists everything that can be used.

This conversation is kept. Search for a word of it in the sessions browser.""",
    ),
)

_AFTERWARDS = (
    Step(
        text="The script has nothing more to say. Type `/setup` to connect a real model, `/model` to choose one, "
        "`/sessions` to find this conversation again, or `/new` to take the tour once more.",
    ),
)

TITLE = "Tour of hermes-tui"
"""What the demo answers to requests without tools."""


def next_step(messages: Sequence[ApiMessage], tools: frozenset[str]) -> Step:
    """Return the step that comes next, from the conversation alone."""
    turn, seen, earlier = _read(messages)
    chapter: tuple[Step, ...] = _CLEANING if "write_file" in earlier else _OPENING
    if "terminal" in earlier or not tools & {"write_file", "terminal"}:
        chapter = _AFTERWARDS
    playable = [step for step in chapter if not step.calls or any(name in tools for name, _ in step.calls)]
    return _bound(playable[min(turn, len(playable) - 1)], seen, tools)


def _bound(step: Step, seen: Seen, tools: frozenset[str]) -> Step:
    text = step.text if isinstance(step.text, str) else step.text(seen)
    return Step(text=text, reasoning=step.reasoning, calls=tuple(call for call in step.calls if call[0] in tools))


def _read(messages: Sequence[ApiMessage]) -> tuple[int, Seen, set[str]]:
    """Return how many answers this turn has, its results, and the tools that earlier turns used."""
    start = max((at for at, message in enumerate(messages) if message["role"] == "user"), default=-1) + 1
    names: dict[str, str] = {}
    earlier: set[str] = set()
    answers = 0
    results: dict[str, str] = {}
    for at, message in enumerate(messages):
        for call in message.get("tool_calls", ()):
            names[call["id"]] = call["function"]["name"]
            if at < start:
                earlier.add(call["function"]["name"])
        answers += at >= start and message["role"] == "assistant"
        if at >= start and message["role"] == "tool":
            results[names.get(message.get("tool_call_id", ""), "")] = text_of(message)
    return answers, Seen(results), earlier
