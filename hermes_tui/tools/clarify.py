"""The ``clarify`` tool: ask the person."""

from __future__ import annotations

from typing import Any

from .base import Args, Result, ToolFailure
from .ports import ToolContext
from .registry import registry

MAX_CHOICES = 4

SCHEMA = {
    "description": (
        "Ask the person a question when the answer changes what you do and cannot be found out otherwise. Offer up to "
        "four choices, or none for free text; own words are always possible."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "question": {"type": "string", "minLength": 1, "maxLength": 2_000},
            "choices": {
                "type": "array",
                "maxItems": MAX_CHOICES,
                "items": {"type": "string", "minLength": 1, "maxLength": 400},
            },
        },
        "required": ["question"],
        "additionalProperties": False,
    },
}


def run(args: Args, context: ToolContext) -> Result:
    """Ask and wait for the answer."""
    question = str(args["question"]).strip()
    choices = [str(choice).strip() for choice in args.get("choices") or []]
    if not question:
        raise ToolFailure("The question is empty.")
    if len(choices) > MAX_CHOICES or not all(choices):
        raise ToolFailure(f"Give at most {MAX_CHOICES} choices, none of them empty; own words are always possible.")
    answer = context.ask(question, list(dict.fromkeys(choices)))
    if context.cancel.cancelled:
        raise ToolFailure("Interrupted before an answer came.", interrupted=True)
    result: Result = {"ok": True, "question": question, "answer": answer}
    if not answer:
        result["note"] = "No answer: nobody is there or the person declined. Decide yourself and say what you assumed."
    return result


def display(args: Args, result: Result | None) -> dict[str, Any]:
    """Describe the card."""
    question = str(args.get("question", ""))
    shown: dict[str, Any] = {"kind": "clarify", "verb": "clarify", "target": question, "question": question}
    shown["choices"] = [str(choice) for choice in args.get("choices") or []]
    shown["answer"] = str((result or {}).get("answer", ""))
    shown["summary"] = ""
    if result is not None:
        shown["summary"] = str(result.get("error", "")) or shown["answer"] or "no answer"
    return shown


registry.register("clarify", SCHEMA, run, toolset="clarify", interactive=True, display=display)
