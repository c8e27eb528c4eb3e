"""The library: an agent for scripts, and many of them at once.

Everything blocks, prints nothing, and asks nobody unless a callback answers. Warnings go to the logger ``hermes_tui``.
"""

from __future__ import annotations

import difflib
import json
import logging
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .bootstrap import Workshop
from .engine.api import UndoScope
from .engine.config.loader import COMMAND_LINE, load_settings
from .engine.policy.redaction import Redactor
from .engine.runtime.agent import Agent, AgentOptions
from .engine.runtime.callbacks import Callback
from .engine.store.db import SessionDB
from .engine.surfaces.batch import Batch
from .engine.surfaces.json_lines import JsonLines
from .engine.types.errors import ConfigError, HermesError
from .engine.types.events import Notice
from .engine.types.messages import JsonObject, Message
from .tools.registry import ToolRegistry

log = logging.getLogger(__name__)
logging.getLogger("hermes_tui").addHandler(logging.NullHandler())  # else Python prints warnings to stderr

ROLES = ("system", "user", "assistant", "tool")


class AIAgent(Agent):
    """The agent as a library. Settings come from the user's files unless given; the constructor does no network I/O.

    ::

        agent = AIAgent(model="anthropic/claude-sonnet-4-6")
        text = agent.chat("What does this repository do?")

    Args:
        model: ``provider/model``; the configured one when None.
        max_iterations: Model requests per turn; None takes ``agent.max_turns``.
        enabled_toolsets: Only these toolsets.
        disabled_toolsets: None of these.
        quiet_mode: Changes nothing: the library never prints.
        save_trajectories: After each turn, add the conversation as a line to ``trajectories.jsonl`` in the data
            folder, secrets taken out.
        platform: The session's source, ``library`` by default.
        session_id: A stored session to go on with.
        skip_context_files: Leave AGENTS.md and its like out of the prompt.
            Without it they are used as far as the user trusts them, as the screen or ``run --trust`` asked.
        skip_memory: Leave MEMORY.md and USER.md out of the prompt.
        provider: Overrides the provider in ``model``.
        api_mode: ``chat_completions``, ``codex_responses`` or ``anthropic_messages``.
        base_url: Endpoint.
        api_key: Key; configuration and environment are asked otherwise.
        callbacks: Name -> function; both families of names work, an unknown one raises.
        routing: Settings by dotted key that override the files, e.g. ``{"approvals.mode": "strict"}``.
        workspace: Folder the agent works in; the present one when None.
        db: An open database to store in; the user's own when None.

    Raises:
        ConfigError: The name of a callback, setting or toolset is unknown, or there is no such folder.
        SessionNotFound: There is no such session.
    """

    def __init__(
        self,
        model: str | None = None,
        max_iterations: int | None = None,
        enabled_toolsets: Collection[str] | None = None,
        disabled_toolsets: Collection[str] | None = None,
        quiet_mode: bool = False,
        save_trajectories: bool = False,
        platform: str | None = None,
        session_id: str | None = None,
        skip_context_files: bool = False,
        skip_memory: bool = False,
        provider: str | None = None,
        api_mode: str | None = None,
        base_url: str | None = None,
        api_key: str | None = None,
        callbacks: Mapping[str, Callback] | None = None,
        routing: Mapping[str, Any] | None = None,
        *,
        workspace: str | Path | None = None,
        db: SessionDB | None = None,
    ) -> None:
        del quiet_mode
        loaded = load_settings(os.environ, dict(routing or {}))
        if wrong := [problem.text for problem in loaded.problems if problem.origin == COMMAND_LINE]:
            raise ConfigError(f"routing cannot be used. {' '.join(wrong).replace(f'{COMMAND_LINE}: ', '')}")
        if max_iterations is not None and max_iterations < 1:
            raise ConfigError(f"max_iterations is {max_iterations}.", hint="Use 1 or more, or None.")
        flags = {"provider": provider, "api_mode": api_mode, "base_url": base_url, "api_key": api_key}
        self._shop = Workshop(loaded, os.environ, {name: value for name, value in flags.items() if value}, db)
        self._owns_store = db is None
        self._trajectories: JsonLines | None = None
        if save_trajectories:
            self._trajectories = JsonLines(loaded.paths.data_dir / "trajectories.jsonl")
        try:
            _check_toolsets((*(enabled_toolsets or ()), *(disabled_toolsets or ())), self._shop.registry)
            options = AgentOptions(
                model=model or loaded.settings.model,
                workspace=_folder(workspace),
                max_iterations=max_iterations or 0,
                enabled_toolsets=enabled_toolsets,
                disabled_toolsets=tuple(disabled_toolsets or ()),
                platform=platform or "library",
                session_id=self._shop.store.resolve(session_id) if session_id else "",
                skip_context_files=skip_context_files,
                skip_memory=skip_memory,
                callbacks=callbacks,
            )
            super().__init__(options, self._shop.agent_parts(options.workspace))
        except HermesError:
            self._shop.close(keep_store=not self._owns_store)
            raise
        for level, text in self._shop.notices:
            log.warning("%s", text)
            self.hub.emit(Notice(level="error" if level == "error" else "warning", text=text, kind="start"))

    def run_conversation(
        self,
        user_message: str | list[JsonObject],
        system_message: str | None = None,
        conversation_history: Sequence[Message] | None = None,
        task_id: str | None = None,
    ) -> dict[str, Any]:
        """Run a turn as :meth:`Agent.run_conversation` does.

        Raises:
            HermesError: Another turn of this agent is running, or what was passed is no message.
        """
        _check_messages(user_message, conversation_history or ())
        result = super().run_conversation(user_message, system_message, conversation_history, task_id)
        if self._trajectories is not None:
            kept = ("session_id", "model", "provider", "completed", "exit_reason", "messages")
            try:
                self._trajectories.append(self.redacted({key: result[key] for key in kept}))
            except ConfigError as error:
                result["errors"].append(str(error))
        return result

    def changes(self) -> list[dict[str, Any]]:
        """Return what this session did to files and nobody took back.

        Returns:
            One dict a path: ``path``, ``kind`` (``created``, ``changed``, ``deleted``), ``added``, ``removed``,
            ``diff``, ``note``, ``by_command``.
        """
        return [asdict(change) for change in self.undoing.changes()]

    def undo(self, scope: UndoScope = "both") -> dict[str, Any]:
        """Take back the last exchange and what its turn did to files; a file that changed since stays.

        Args:
            scope: ``both``, ``files`` or ``message``.

        Returns:
            ``text`` and ``images`` of the message, ``has_message``, ``files`` that are as before, and ``kept``: dicts
            of ``path`` and ``why``.

        Raises:
            HermesError: A turn is running.
        """
        self.load()
        return asdict(self.undoing.undo(scope))

    def redo(self) -> dict[str, Any]:
        """Bring back what the last :meth:`undo` took, unless something was said since; returns the same keys."""
        self.load()
        return asdict(self.undoing.redo())

    def redacted(self, value: Any) -> Any:
        """Return a JSON value, a result for instance, without secrets."""
        return Redactor(self._shop.secrets).value(value)

    def close(self) -> None:
        """End the session's processes, and close the database unless it was given. Twice does no harm."""
        super().close()
        self._shop.close(keep_store=not self._owns_store)

    def __enter__(self) -> AIAgent:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def run_batch(
    prompts: Sequence[str],
    *,
    concurrency: int = 4,
    output: str | Path | None = None,
    system_message: str | None = None,
    db: SessionDB | None = None,
    **options: Any,
) -> list[dict[str, Any]]:
    """Ask each prompt in a session of its own, several at a time, and return the results in order. Blocks.

    Ctrl+C stops every turn, then raises; what ``output`` got by then is kept, and the same call goes on from there.

    Args:
        prompts: One message for each conversation.
        concurrency: Turns at a time.
        output: A JSONL file that gets each result when it is there, secrets taken out. Prompts whose completed result
            it holds already are not asked again.
        system_message: Added to every system prompt.
        db: An open database to store in; the user's own when None.
        options: Arguments of :class:`AIAgent`. Callbacks are called from several threads.

    Returns:
        The result of :meth:`AIAgent.run_conversation` for each prompt, with ``prompt`` and ``index``. A turn that
        failed is a result with ``errors``.

    Raises:
        ConfigError: The arguments cannot be used.
    """
    if isinstance(prompts, str):
        raise ConfigError("prompts is one text, not a list of them.", hint='Pass ["..."].')
    lines = JsonLines(Path(output)) if output is not None else None
    shop = Workshop(load_settings(os.environ), os.environ, store=db)
    try:
        batch = Batch(
            lambda: AIAgent(db=shop.store, **options),
            system_message=system_message,
            concurrency=concurrency,
            output=lines,
        )
        return batch.run(prompts)
    finally:
        shop.close(keep_store=db is not None)


def _folder(workspace: str | Path | None) -> Path:
    folder = Path(workspace) if workspace is not None else Path.cwd()
    if not folder.is_dir():
        raise ConfigError(f"The workspace {folder} is not a folder.", hint="Make it first.")
    return folder.absolute()


def _check_toolsets(names: Collection[str], registry: ToolRegistry) -> None:
    known = registry.toolsets()
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"Known: {', '.join(known)}."
            raise ConfigError(f"There is no toolset named {name}.", hint=hint)


def _check_messages(user_message: Any, history: Sequence[Any]) -> None:
    """Refuse what is no message before any of it is stored."""
    if not isinstance(user_message, str | list) or not all(isinstance(part, Mapping | str) for part in user_message):
        raise HermesError("user_message is neither text nor a list of content parts.")
    for place, message in enumerate(history):
        problem = ""
        if not isinstance(message, Mapping):
            problem = f"is {type(message).__name__}, not a dict"
        elif message.get("role") not in ROLES:
            problem = f"has the role {message.get('role')!r}; it must be one of {', '.join(ROLES)}"
        elif not isinstance(message.get("content"), str | list | None):
            problem = f"has {type(message['content']).__name__} as content; it must be text, a list of parts, or None"
        else:
            try:
                json.dumps(message)
            except (TypeError, ValueError) as error:
                problem = f"is no JSON ({error})"
        if problem:
            raise HermesError(f"conversation_history[{place}] {problem}.", hint="Pass OpenAI-style messages.")


__all__ = ["AIAgent", "run_batch"]
