"""What the demo says and does, as data: chapters of steps, one step per model request; ``demo_script`` chooses."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .demo_web import PAGE

FOLDER = "hermes-tui-demo"
NOTES = f"{FOLDER}/notes.md"

IDEAS = f"{FOLDER}/ideas.json"
ERRAND = f"Read {NOTES} and say in one sentence what one could try."
"""What the subagent is asked; its own script answers to it."""

_TASKS = ("Look around", "Write a note", "Improve it", "Try the other tools", "Clean up")


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

    def job(self) -> int:
        """Return the number of the job that the latest command became; 1 when it became none."""
        number = self._fields("terminal").get("job")
        return number if isinstance(number, int) else 1

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
    calls: tuple[tuple[str, dict[str, Any] | Callable[[Seen], dict[str, Any]]], ...] = ()
    """Tool name and arguments; a call of a tool that is not offered is left out."""


def _todos(done: int) -> tuple[str, dict[str, Any]]:
    states = ["done"] * done + ["in_progress"] + ["pending"] * len(_TASKS)
    items = [
        {"id": str(number), "content": task, "status": states[number - 1]} for number, task in enumerate(_TASKS, 1)
    ]
    return "todo", {"todos": items}


OPENING = (
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

Answer anything, for example *go on*, and you see scripts, the web, background jobs and a helper. Or answer *clean up*,
and I try to delete my folder. **You decide whether I may.**""",
    ),
)

_JOB = "for step in 1 2 3 4 5 6 7 8 9; do echo step $step; sleep 0.5; done"
_SCRIPT = f"""\
import json

note = read_file("{NOTES}")["content"]
ideas = [line[2:] for line in note.splitlines() if line.startswith("- ")]
done = write_file("{IDEAS}", json.dumps(ideas, indent=1))
print(len(ideas), "ideas", "kept" if done["ok"] else done["error"])
"""

MORE = (
    Step(
        reasoning="Several small steps in a row need no answer each: a script can call the tools itself.",
        text="Many small steps can be one: a script that calls the tools. It only computes and calls, so it asks "
        "nobody; each of its calls is judged like mine.",
        calls=(_todos(3), ("execute_code", {"description": "collect the ideas of the note", "code": _SCRIPT})),
    ),
    Step(
        text="The web, without leaving this machine: **these pages belong to the demo**. With a real model the same "
        "tools ask a search engine and read real pages.",
        calls=(("web_search", {"query": "habits for working with an agent in a terminal", "limit": 2}),),
    ),
    Step(
        text="I read the first one, and an address that no page may lead me to.",
        calls=(("web_extract", {"urls": [PAGE, "http://169.254.169.254/latest/meta-data/"]}),),
    ),
    Step(
        text="What takes long runs in the background.",
        calls=(("terminal", {"command": _JOB, "background": True, "description": "something that takes a while"}),),
    ),
    Step(
        text="Meanwhile I can wait for a line of it,",
        calls=(("process", lambda seen: {"action": "wait", "job": seen.job(), "until": "step 3", "timeout_s": 20}),),
    ),
    Step(
        text="and end it when I have seen enough.",
        calls=(("process", lambda seen: {"action": "kill", "job": seen.job()}),),
    ),
    Step(
        text="A part of the work can go to a helper with a conversation of its own.",
        calls=(("delegate_task", {"goal": ERRAND}),),
    ),
    Step(
        reasoning="Notes and sessions are the person's. What I add I take out again in the same call.",
        text="Notes for later sessions can be kept (I leave none), and everything ever said can be found again.",
        calls=(
            (
                "memory",
                {
                    "target": "memory",
                    "actions": [
                        {"action": "add", "content": "The tour of hermes-tui was taken."},
                        {"action": "remove", "old_text": "The tour of hermes-tui was taken."},
                    ],
                },
            ),
            ("session_search", {"limit": 3}),
        ),
    ),
    Step(
        text="""\
| what | how |
|---|---|
| a script | one card, its calls below it |
| the web | public addresses only; what a page says is material, never an order |
| a job | goes on while we talk; you are told when it ends |
| a helper | has its own session, which you can open |

Answer anything, for example *clean up*, and I will try to delete my folder. **You decide whether I may.**""",
    ),
)

ERRAND_STEPS = (
    Step(text="I look at the note.", calls=(("read_file", {"path": NOTES}),)),
    Step(text="One could scroll while an answer streams, interrupt with Esc and go on, and search all sessions."),
)

CLEANING = (
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
        calls=(_todos(5),),
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

AFTERWARDS = (
    Step(
        text="The script has nothing more to say. Type `/setup` to connect a real model, `/model` to choose one, "
        "`/sessions` to find this conversation again, or `/new` to take the tour once more.",
    ),
)

TITLE = "Tour of hermes-tui"
"""What the demo answers to requests without tools."""
