"""What an agent is made from: the caller's choices, and what the composition root provides."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...tools.registry import ToolRegistry
from ..config.settings import Settings
from ..context.compression import ContextEngine
from ..context.memory import MemoryBook
from ..store.checkpoints import CheckpointDB
from .callbacks import Callback
from .delegation import Parent
from .interrupt import CancelToken
from .ports import ClientFor, Cost, Gate, MessageStore, Resolve, SessionArchive


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions:
    """What a caller chooses."""

    model: str
    """``provider/model``."""
    workspace: Path
    max_iterations: int = 0
    """Model calls per turn; 0 takes ``agent.max_turns``."""
    enabled_toolsets: Collection[str] | None = None
    """None takes ``agent.toolsets``, all when that is empty."""
    disabled_toolsets: Collection[str] = ()
    platform: str = ""
    """``tui``, ``run``, ``library``, ...: the session's source and the prompt's hint."""
    session_id: str = ""
    """A stored session to go on with; empty starts a new one."""
    agent_id: str = ""
    """Empty for the main agent."""
    skip_context_files: bool = False
    parent: Parent | None = None
    """For a subagent: what ties it to the agent that started it."""
    skip_memory: bool = False
    """Leave the notes of earlier sessions out of the prompt, and the tool that changes them."""
    callbacks: Mapping[str, Callback] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentParts:
    """What the composition root provides."""

    settings: Settings
    store: MessageStore
    registry: ToolRegistry
    resolve: Resolve
    client_for: ClientFor
    gate: Gate
    spill_dir: Path
    """Private folder for full copies of long results."""
    notices: Sequence[str] = ()
    """What to tell about the project's own settings, with the first turn."""
    soul_file: Path | None = None
    """The user's own identity text."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Environment of child processes, before keys are taken out."""
    key_names: Collection[str] = ()
    """Variables that hold provider keys."""
    is_trusted: Callable[[str, str], bool] = lambda path, digest: False
    """Whether a project's file (path, content hash) may be used."""
    secrets: Callable[[], Collection[str]] = tuple
    """Values of the configured keys."""
    report_crash: Callable[[BaseException], str] = lambda error: ""
    """Keeps the traceback of an internal error and returns where."""
    forget_key: Callable[[str], None] = lambda provider: None
    """Makes the next resolving of a provider look for its key anew, because it was refused."""
    memory: MemoryBook | None = None
    """Notes of earlier sessions."""
    archive: SessionArchive | None = None
    """Everything ever said, for the tool that searches it."""
    checkpoints: CheckpointDB | None = None
    """What was done to files, for undo; None keeps nothing."""
    context_engine: ContextEngine | None = None
    """How histories are shortened; a summary of their middle when None."""
    cost_usd: Cost = lambda endpoint, usage: None
    sleep: Callable[[CancelToken, float], bool] = CancelToken.wait
    now: Callable[[], float] = time.time
