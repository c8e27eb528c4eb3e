"""The state of one conversation: row, history, prompt, totals. Every message is committed when it exists."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ..context.compression import kept_rows
from ..context.memory import MemoryBook, Snapshot
from ..context.project_files import ProjectFile, find_project_file
from ..context.prompt import PromptParts, build_system_prompt
from ..context.tokens import Calibration, RoleTokens, message_tokens
from ..context.window import OUTCOME_UNKNOWN, Window
from ..policy.redaction import Redactor
from ..types.events import ContextCompressed, Event, MessageCommitted, Notice
from ..types.ids import new_session_id
from ..types.messages import ApiMessage, Message
from ..types.sessions import StoredMessage
from ..types.usage import Usage
from .hub import Hub
from .outcome import Bill
from .ports import MessageStore, SessionFields
from .workspace import git_branch

TRUST_HINT = "Read it; then /trust, or hermes-tui run --trust."


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationParts:
    """What a conversation is made from."""

    store: MessageStore
    hub: Hub
    redactor: Redactor
    workspace: Path
    source: str = "library"
    session_id: str = ""
    """An existing session; empty starts a new one with its first message."""
    soul_file: Path | None = None
    skip_context_files: bool = False
    is_trusted: Callable[[str, str], bool] = lambda path, digest: False
    """Whether a project's file (path, content hash) may be used."""
    notices: Sequence[str] = ()
    """What to tell with the first turn."""
    platform: str = ""
    parent_id: str = ""
    """The session of the agent that started this one."""
    add_usage: Callable[[Usage, float | None], None] | None = None
    """Counts a subagent's requests where its parent's are counted; None counts them on the own session."""
    memory: MemoryBook | None = None
    """Notes that the prompt of a new session holds; None leaves them out."""
    now: Callable[[], float] = time.time


class Conversation:
    """One session as the agent sees it. One agent thread writes; the totals may be read from any thread.

    Rows are kept in memory as they were said and stored without secrets.
    """

    def __init__(self, parts: ConversationParts) -> None:
        self._parts = parts
        self._is_stored = bool(parts.session_id)
        self._is_loaded = False
        self._load_lock = threading.Lock()
        self._prompt = ""
        self._window = Window()
        self._calibration = Calibration()
        self._by_role = RoleTokens()
        self._compressed_ids: set[str] = set()
        self._told: set[str] = set()
        self.session_id = parts.session_id or new_session_id(parts.now())
        self.history: list[Message] = []
        self.stored: list[Message] = []
        """The same rows without secrets, as stored."""
        self.fixed_tokens = 0
        """Estimate of the system prompt and the tools of the last request."""
        self.bill = Bill()
        """What the session used, side tasks and subagents included."""
        parts.hub.session_id = self.session_id

    def load(self) -> None:
        """Read a stored session, once. Any thread; blocks on the disk; raises ``StoreError``."""
        with self._load_lock:
            if self._is_stored and not self._is_loaded:
                self._take_history()
                self.bill = Bill(*self._parts.store.usage(self.session_id))
                self._prompt = self._parts.store.system_prompt(self.session_id)
                self._window.build(self.history)
            self._is_loaded = True

    def ensure_stored(self, model: str, provider: str) -> None:
        """Create the session's row, unless it exists."""
        if not self._is_stored:
            self._parts.store.create(**self._row_fields(self.session_id, model, provider))
            self._is_stored = True

    def adopt(self, history: Sequence[Message], model: str, provider: str) -> bool:
        """Take over a caller's history: nothing to do when it is this one, else it starts a new session.

        All of it is stored, or none and the conversation stays as it was. True when a new session began. Blocks;
        raises ``StoreError``.
        """
        if _is_same(history, self.history):
            return False
        store, is_new = self._parts.store, bool(self.history)
        session_id = new_session_id(self._parts.now()) if is_new else self.session_id
        rows = [cast(Message, {"created_at": self._parts.now(), **message}) for message in history]
        stored = [self._redacted(row) for row in rows]
        if is_new or not self._is_stored:
            store.create(messages=stored, **self._row_fields(session_id, model, provider))
            ids = [row.id for row in store.history(session_id)]
        else:
            ids = store.append_many(session_id, stored)
        if is_new:
            self._prompt, self.bill = "", Bill()
        self.session_id = self._parts.hub.session_id = session_id
        self._is_stored, self.history, self.stored = True, rows, stored
        for message_id, row in zip(ids, stored, strict=True):
            self._emit(MessageCommitted(message_id=message_id, message=row))
        return is_new

    def commit(self, message: Message) -> int:
        """Store a row and announce it; returns its id. Blocks until it is durable; raises ``StoreError``."""
        message.setdefault("created_at", self._parts.now())
        stored = self._redacted(message)
        message_id = self._parts.store.append(self.session_id, stored)
        self.history.append(message)
        self.stored.append(stored)
        self._emit(MessageCommitted(message_id=message_id, message=stored))
        return message_id

    def go_on_with(self, summary: Message) -> ContextCompressed:
        """Go on in a child session that begins with a summary, and announce it. Blocks; raises ``StoreError``.

        Args:
            summary: A row with ``compressed``.
        """
        summary.setdefault("created_at", self._parts.now())
        stored = self._redacted(summary)
        self.session_id, message_id = self._parts.store.continue_compressed(self.session_id, stored)
        self._parts.hub.session_id = self.session_id
        self._compressed_ids |= self._window.call_ids
        self.history, self.stored = kept_rows(self.history, summary), kept_rows(self.stored, stored)
        self._window.build(self.history)
        numbers = summary["compressed"]
        event = ContextCompressed(
            before_tokens=numbers["before_tokens"],
            after_tokens=numbers["after_tokens"],
            child_session_id=self.session_id,
            summarised_count=numbers["summarised"],
        )
        self._emit(event)
        self._emit(MessageCommitted(message_id=message_id, message=stored))
        return event

    def answer_open_calls(self) -> None:
        """Give calls at the end of the history that have no result one that says so. Blocks; raises ``StoreError``."""
        place = next((i for i in reversed(range(len(self.history))) if self.history[i]["role"] != "tool"), 0)
        answered = {row.get("tool_call_id") for row in self.history[place + 1 :]}
        for call in self.history[place].get("tool_calls", ()) if self.history else ():
            if call["id"] not in answered:
                row: Message = {
                    "role": "tool",
                    "tool_call_id": call["id"],
                    "tool_name": call["function"]["name"],
                    "content": OUTCOME_UNKNOWN,
                    "synthetic": True,
                }
                self.commit(row)

    def estimate_with(self, summary: Message) -> int:
        """Estimate the next request's prompt tokens if the conversation went on with this summary."""
        rows = kept_rows(self.history, summary)
        return self._calibration.apply(sum(map(message_tokens, rows)) + self.fixed_tokens)

    @property
    def factor(self) -> float:
        """Tokens that the provider counts for each estimated one."""
        return self._calibration.factor

    def undo_compression(self) -> bool:
        """Send again what the newest summary stands for; False when there is none. Blocks."""
        if not self._is_stored or not self._parts.store.undo_compression(self.session_id):
            return False
        self._take_history()
        self._window.build(self.history)
        return True

    @property
    def is_stored(self) -> bool:
        """Whether the session has a row."""
        return self._is_stored

    def undo(self) -> str:
        """Take back the last exchange and return its user text."""
        text = self._parts.store.undo_last(self.session_id) if self._is_stored else ""
        if self._is_stored:
            self._take_history()
        return text

    def redo(self) -> list[StoredMessage]:
        """Bring back the exchange that was taken back last, unless something was said since; returns its rows."""
        rows = self._parts.store.redo_last(self.session_id) if self._is_stored else []
        if rows:
            self._take_history()
        return rows

    def prompt(self, tool_names: Sequence[str], system_message: str) -> str:
        """Return the system prompt, built and stored once per session."""
        if not self._prompt:
            self._prompt = build_system_prompt(self._prompt_parts(tool_names, system_message))
            self._parts.store.set_system_prompt(self.session_id, self._prompt)
        return self._prompt

    def request_messages(self, system: str) -> list[ApiMessage]:
        """Return the messages of the next request."""
        return self._window.build(self.history, system)

    def tokens_by_role(self) -> dict[str, int]:
        """Estimate the messages by who spoke, summaries apart. Any thread; quick when it was asked before."""
        return self._by_role.of(self.history)

    @property
    def system(self) -> str:
        """The system prompt; empty before the first turn."""
        return self._prompt

    def has_call_id(self, call_id: str) -> bool:
        """Whether a call of this conversation had this id, also one that was compressed away."""
        return call_id in self._window.call_ids or call_id in self._compressed_ids

    def estimate(self, fixed_tokens: int) -> int:
        """Estimate the next request's prompt tokens, calibrated by the last one. Call after building its messages.

        Args:
            fixed_tokens: Estimate of the system prompt and the tool definitions.
        """
        return self._calibration.apply(self._window.tokens + fixed_tokens)

    def learn(self, fixed_tokens: int, counted: int) -> bool:
        """Calibrate the estimates by what the provider counted for the request that was just built.

        False when the count is so small that the server cannot have read all of the request; nothing is learnt then.
        """
        return self._calibration.learn(self._window.tokens + fixed_tokens, counted)

    def is_news(self, topic: str) -> bool:
        """Whether this is the first time that a topic is asked about: for what is to be told once."""
        is_first = topic not in self._told
        self._told.add(topic)
        return is_first

    def add_usage(self, usage: Usage, cost_usd: float | None) -> None:
        """Add one request to the session's totals. Any thread."""
        self.bill.add(usage, cost_usd)
        if self._parts.add_usage is not None:
            self._parts.add_usage(usage, cost_usd)
        else:
            self._parts.store.add_usage(self.session_id, usage, cost_usd)

    def record_model(self, model: str, provider: str) -> None:
        """Store the model of later requests."""
        if self._is_stored:
            self._parts.store.set_model(self.session_id, model, provider)

    def redact(self, text: str) -> str:
        """Return a text without secrets."""
        return self._parts.redactor.text(text)

    def _row_fields(self, session_id: str, model: str, provider: str) -> SessionFields:
        parts = self._parts
        return {
            "source": parts.source,
            "cwd": str(parts.workspace),
            "model": model,
            "provider": provider,
            "session_id": session_id,
            "parent": parts.parent_id or None,
            "branch": git_branch(parts.workspace),
            "claim": parts.source != "library",  # a script may leave thousands behind; none is "open"
        }

    def _take_history(self) -> None:
        self.history = [row.message for row in self._parts.store.history(self.session_id)]
        place = next((i for i in reversed(range(len(self.history))) if "compressed" in self.history[i]), None)
        if place is not None:
            summary, rest = self.history[place], [*self.history[:place], *self.history[place + 1 :]]
            end = summary["compressed"]["first"] + summary["compressed"]["last"]
            self.history = [*kept_rows(rest[:end], summary), *rest[end:]]
        self.stored = list(self.history)

    def _emit(self, event: Event) -> None:
        self._parts.hub.emit(event)

    def _prompt_parts(self, tool_names: Sequence[str], system_message: str) -> PromptParts:
        parts = self._parts
        for text in parts.notices:
            self._emit(Notice(level="warning", text=text, hint=TRUST_HINT, kind="trust"))
        project = self._project_file()
        if project is not None and project.hidden_count:
            self._emit(
                Notice(
                    level="warning",
                    text=f"{project.path.name} holds {project.hidden_count} invisible characters.",
                    hint="They are written out as <U+XXXX> for the model. Look at the file.",
                    kind="project_file",
                )
            )
        memory = parts.memory.snapshot() if parts.memory is not None else Snapshot()
        return PromptParts(
            tool_names=tool_names,
            workspace=parts.workspace,
            soul=_read(parts.soul_file),
            system_message=system_message,
            memory=memory.memory,
            user=memory.user,
            project=project,
            platform=parts.platform,
            now_s=parts.now(),
        )

    def _project_file(self) -> ProjectFile | None:
        """Return the project's instructions, unless they are unwanted or nobody trusts them."""
        parts = self._parts
        found = None if parts.skip_context_files else find_project_file(parts.workspace)
        if found is None or parts.is_trusted(str(found.path), found.digest):
            return found
        self._emit(
            Notice(
                level="warning",
                text=f"{found.path} is not used: nobody trusts it with this content yet.",
                hint=TRUST_HINT,
                kind="trust",
            )
        )
        return None

    def _redacted(self, message: Message) -> Message:
        """Return the row as stored. Opaque reasoning blocks are signed and stay as they are."""
        clean: dict[str, Any] = {
            key: value if key == "reasoning_details" else self._parts.redactor.value(value)
            for key, value in message.items()
        }
        return cast(Message, clean)


def _is_same(given: Sequence[Message], own: Sequence[Message]) -> bool:
    return len(given) == len(own) and all(
        a.get("role") == b.get("role") and a.get("content") == b.get("content") for a, b in zip(given, own, strict=True)
    )


def _read(path: Path | None) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace") if path is not None else ""
    except OSError:
        return ""
