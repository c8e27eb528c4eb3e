"""What a handler gets: its call's view of the session, the environment and the people. Implements ``tools.ports``."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

from ...tools.base import Tool
from ...tools.ports import SessionState
from ..policy.approvals import Approvals
from ..policy.redaction import MIN_SECRET_CHARS
from ..types.events import Event, TodosChanged, ToolOutput
from ..types.ids import new_request_id
from ..types.messages import Message
from ..types.requests import ClarifyRequest
from .interrupt import CancelToken

log = logging.getLogger(__name__)

StateT = TypeVar("StateT")


class SessionObjects:
    """Objects that tools keep for the length of a session. Usable from any thread."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._objects: dict[str, Any] = {}

    def get(self, key: str, factory: Callable[[], StateT]) -> StateT:
        """Return the object under ``key``, made by ``factory`` the first time."""
        with self._lock:
            if key not in self._objects:
                self._objects[key] = factory()
            return cast(StateT, self._objects[key])

    def close(self) -> None:
        """Close and forget every object that can be closed."""
        with self._lock:
            objects, self._objects = list(self._objects.values()), {}
        for item in objects:
            if callable(close := getattr(item, "close", None)):
                try:
                    close()
                except Exception:
                    log.exception("a tool's session object could not be closed")


def restore_tools(tools: Iterable[Tool], history: Sequence[Message], state: SessionState) -> None:
    """Give each tool that keeps something for a session its last successful result of a stored one."""
    waiting = {tool.name: tool.restore for tool in tools if tool.restore is not None}
    for message in reversed(history):
        if not waiting:
            return
        name = message.get("tool_name", "") if message["role"] == "tool" else ""
        if name not in waiting:
            continue
        try:
            result = json.loads(str(message["content"]))
        except ValueError:  # capped or foreign
            continue
        if isinstance(result, dict) and result.get("ok"):
            waiting.pop(name)(state, result)


def pinned_by(tools: Iterable[Tool], state: SessionState) -> str:
    """Return what tools want to be carried word for word when a conversation is compressed."""
    return "\n\n".join(text for tool in tools if tool.pin is not None and (text := tool.pin(state)))


def scrub_env(env: Mapping[str, str], key_names: Collection[str], secrets: Collection[str] = ()) -> dict[str, str]:
    """Return an environment for child processes without provider keys, whatever variable holds them."""
    known = (*secrets, *(env.get(name, "") for name in key_names))
    hidden = {secret for secret in known if len(secret) >= MIN_SECRET_CHARS}
    return {name: value for name, value in env.items() if name not in key_names and value not in hidden}


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextParts:
    """What all calls of a session share."""

    session_id: Callable[[], str]
    """Id of the session; a compression in the middle of a turn changes it."""
    workspace: Path
    env: Callable[[], Mapping[str, str]]
    """Environment for child processes; asked for each call, since keys become known as models are resolved."""
    spill_dir: Path
    state: SessionObjects
    timeout_s: float
    emit: Callable[[Event], None]
    approvals: Approvals
    agent_id: str = ""
    services: Mapping[str, object] = field(default_factory=dict)
    redact: Callable[[str], str] = str
    """Takes secrets out of a text."""


class CallContext:
    """The context of one call.

    Args:
        parts: What is the same for every call.
        call_id: Id of the call.
        cancel: The call's own token.
        within: The tool whose script makes the call, if one does.
        card_id: Id of the call whose card shows what happens; this call when empty.
    """

    def __init__(
        self, parts: ContextParts, call_id: str, cancel: CancelToken, within: str = "", card_id: str = ""
    ) -> None:
        self._parts = parts
        self.within = within
        self.card_id = card_id or call_id
        self._is_open = True
        self.call_id = call_id
        self.cancel = cancel

    @property
    def is_scripted(self) -> bool:
        """Whether a script makes the call."""
        return bool(self.within)

    @property
    def session_id(self) -> str:
        """Id of the session."""
        return self._parts.session_id()

    @property
    def workspace(self) -> Path:
        """The folder the session works in."""
        return self._parts.workspace

    @property
    def env(self) -> Mapping[str, str]:
        """Environment for child processes, without provider keys."""
        return self._parts.env()

    @property
    def spill_dir(self) -> Path:
        """Private folder for full logs of long output; made when first asked for."""
        self._parts.spill_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._parts.spill_dir

    @property
    def state(self) -> SessionObjects:
        """Objects that live as long as the session."""
        return self._parts.state

    @property
    def timeout_s(self) -> float:
        """Default time limit of the call."""
        return self._parts.timeout_s

    def service(self, name: str) -> object:
        """Return what the tool said it needs."""
        return self._parts.services[name]

    def redact(self, text: str) -> str:
        """Return a text without secrets, for what is written to disk or shown."""
        return self._parts.redact(text)

    def emit_output(self, text: str) -> None:
        """Show live output in the call's card; nothing once the call has its result."""
        if self._is_open and text:
            self._parts.emit(ToolOutput(call_id=self.card_id, text=self.redact(text)))

    def emit_screen(self, text: str) -> None:
        """Show a terminal's screen in the call's card, in place of what was shown live before."""
        if self._is_open:
            self._parts.emit(ToolOutput(call_id=self.card_id, text=self.redact(text), is_screen=True))

    def ask(self, question: str, choices: Sequence[str]) -> str:
        """Ask the person; blocks; empty when declined or nobody is there."""
        request = ClarifyRequest(
            request_id=new_request_id(),
            call_id=self.call_id,
            question=question,
            choices=tuple(choices),
            agent_id=self._parts.agent_id,
        )
        return self._parts.approvals.ask(request, self.cancel).text

    def publish_todos(self, items: Sequence[Mapping[str, str]]) -> None:
        """Show the todo list in the side panel."""
        self._parts.emit(TodosChanged(items=tuple(dict(item) for item in items)))

    def close(self) -> None:
        """Mute the call: an abandoned handler may still run, but is not heard any more."""
        self._is_open = False
