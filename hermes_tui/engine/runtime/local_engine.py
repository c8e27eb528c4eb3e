"""The engine in this process: opens sessions over the database and answers what a front end asks.

``bootstrap.py`` makes it; it picks no concrete classes itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path

from ..api import AgentSession
from ..context.memory import MemoryBook
from ..policy.trust import TrustStore
from ..store.checkpoints import CheckpointDB
from ..store.db import SessionDB
from ..types.errors import SessionNotFound
from ..types.sessions import SessionState
from .agent import Agent, AgentOptions, AgentParts
from .memory_directory import MemoryDirectory
from .model_directory import ModelDirectory, ModelParts
from .resume import resume_problems
from .session import LiveSession
from .session_directory import UNDO_DELETE_S, SessionDirectory
from .trust_directory import TrustDirectory
from .workspace import find_workspace, git_branch


class LocalEngine(SessionDirectory, ModelDirectory, TrustDirectory, MemoryDirectory):
    """Implements :class:`~hermes_tui.engine.api.Engine`.

    Args:
        store: The open database.
        agent_parts: Makes the parts of one agent for a folder (each session has its own gate).
        model_parts: What the model directory works with.
        trust: What the person said to folders.
        memory: The memory files.
        default_model: ``provider/model`` of new sessions.
        may_change_model: Whether a project's own settings may choose another one.
        notices: What went wrong while starting.
        warm_up: Loads what the first request of a model needs; called in a thread.
        secrets: Returns the values of the keys in use, which no export may hold.
        checkpoints: What was done to files.
        image_dir: Private folder for images of messages that return to the prompt.
        on_closed: Called last when the engine is closed.
    """

    def __init__(
        self,
        store: SessionDB,
        agent_parts: Callable[[Path], AgentParts],
        model_parts: ModelParts,
        trust: TrustStore,
        *,
        memory: MemoryBook | None = None,
        default_model: str = "",
        may_change_model: bool = True,
        notices: Sequence[tuple[str, str]] = (),
        warm_up: Callable[[Agent], None] = lambda agent: None,
        secrets: Callable[[], Collection[str]] = tuple,
        checkpoints: CheckpointDB | None = None,
        image_dir: Path = Path(),
        on_closed: Callable[[], object] = lambda: None,
    ) -> None:
        SessionDirectory.__init__(self, store, secrets, checkpoints, image_dir)
        ModelDirectory.__init__(self, model_parts)
        TrustDirectory.__init__(self, trust)
        MemoryDirectory.__init__(self, memory)
        self._agent_parts = agent_parts
        self._default_model = default_model
        self._may_change_model = may_change_model
        self._user_model = model_parts.loaded().settings.model
        self._notices = tuple(notices)
        self._warm_up = warm_up
        self._on_closed = on_closed
        self._open: list[LiveSession] = []
        self._lock = threading.Lock()

    @property
    def notices(self) -> Sequence[tuple[str, str]]:
        """``(level, text)`` of what went wrong while starting."""
        return self._notices

    @property
    def default_model(self) -> str:
        """``provider/model``, or empty when none is configured."""
        return self._default_model

    def open_session(self, session_id: str | None = None, *, source: str = "tui") -> AgentSession:
        """Open a new session, or resume the one with this id or title. Its row is made with its first message."""
        store = self._store
        known = store.resolve(session_id) if session_id else ""
        row = store.row(known) if known else None
        workspace = find_workspace(row.cwd if row else "")
        parts = self._agent_parts(workspace)
        model = self._default_model
        if row is not None and row.model and row.provider:
            model = f"{row.provider}/{row.model}"
        elif self._may_change_model and parts.settings.model not in ("", self._user_model):
            model = parts.settings.model  # the project's choice
        is_free = not known or bool(store.read_only_reason) or store.claim(known)
        agent = Agent(AgentOptions(model=model, workspace=workspace, platform=source, session_id=known), parts)
        provider, _, name = model.partition("/")
        state = SessionState(
            session_id=agent.session_id,
            title=row.title if row else "",
            model=name or model,
            provider=provider if name else "",
            cwd=str(workspace),
            branch=git_branch(workspace),
            cost_usd=row.cost_usd if row else 0.0,
            compaction_count=row.compaction_count if row else 0,
            cost_cap_usd=parts.settings.budget.max_cost_usd,
            read_only=not is_free,
            problems=resume_problems(row, workspace, model, parts.resolve, is_free=is_free) if row else (),
        )
        session = LiveSession(
            agent,
            store,
            parts.registry,
            parts.gate,
            state,
            resumed=bool(known),
            warm_up=lambda: self._warm_up(agent),
            on_close=lambda: self._closed(agent.session_id, is_free),
        )
        with self._lock:
            self._open.append(session)
        return session

    def change_setting(self, key: str, text: str | None) -> str:
        """Write a setting; the model counts for the next session at once."""
        said = super().change_setting(key, text)
        if key == "model" and self._may_change_model:
            self._default_model = self._user_model = self._settings.model
        return said

    def _closed(self, session_id: str, is_ours: bool) -> None:
        with self._lock:
            self._open = [session for session in self._open if session.state.session_id != session_id]
        if is_ours and not self._store.read_only_reason:
            with suppress(SessionNotFound):  # nothing was said in it, so it was never stored
                self._store.end(session_id)

    def close(self) -> None:
        """Close every session, erase what was deleted, and close the database."""
        with self._lock:
            sessions = list(self._open)
        for session in sessions:
            session.close()
        self._model_parts.rules.save_hits()
        if not self._store.read_only_reason:
            self._store.purge_deleted(UNDO_DELETE_S)
            self._forget_checkpoints()
        if self._checkpoints is not None:
            self._checkpoints.close()
        self._store.close()
        self._on_closed()
