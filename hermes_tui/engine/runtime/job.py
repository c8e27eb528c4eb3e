"""One call on its way through the executor, and its end."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from ..types.events import Outcome
from .interrupt import CancelToken
from .plan import PlannedCall
from .tool_context import CallContext


@dataclass(slots=True)
class Job:
    """One call on its way."""

    planned: PlannedCall
    token: CancelToken
    context: CallContext
    is_started: bool = False
    runs_since: float = 0.0
    """Monotonic time at which the handler began; 0 before."""
    deadline: float = 0.0
    """Monotonic time at which waiting for it ends; 0 waits for ever (a person may be thinking)."""
    is_late: bool = False
    is_read: bool = False
    """Whether the call was found to change nothing."""
    within: str = ""
    """Id of the call whose script makes this one."""
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True, slots=True)
class Done:
    """What a call came to."""

    job: Job
    payload: dict[str, Any]
    outcome: Outcome
    duration_s: float
