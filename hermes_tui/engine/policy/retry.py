"""Which failed requests are tried again, how often, and after how long. A table, no loop."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from ..types.errors import (
    AuthError,
    BadRequest,
    BillingError,
    ConnectionFailed,
    ContextOverflow,
    ModelNotFound,
    Overloaded,
    ProviderError,
    ProviderTimeout,
    RateLimited,
    Refused,
    StreamBroken,
)

BASE_WAIT_S = 2.0
MAX_WAIT_S = 60.0
MAX_RETRY_AFTER_S = 600.0
"""A provider that asks for more is not waited for longer than this."""
JITTER_SHARE = 0.25
"""A wait is lengthened by up to this part, so that clients do not come back together."""


@dataclass(frozen=True, slots=True)
class RetryRule:
    """What one class of failure gets."""

    attempts: int
    """Requests in all, the first included."""
    can_fall_back: bool = True
    """Whether another model may help."""
    refreshes_key: bool = False
    """Whether the credential is read again once before giving up."""
    rotates_key: bool = False
    """Whether the provider's next key is tried before another model."""


RULES: dict[type[ProviderError], RetryRule] = {
    RateLimited: RetryRule(attempts=4, rotates_key=True),
    Overloaded: RetryRule(attempts=3),
    StreamBroken: RetryRule(attempts=3),
    ProviderTimeout: RetryRule(attempts=3),
    ConnectionFailed: RetryRule(attempts=3),
    AuthError: RetryRule(attempts=1, refreshes_key=True, rotates_key=True),
    BillingError: RetryRule(attempts=1, rotates_key=True),
    ModelNotFound: RetryRule(attempts=1),
    Refused: RetryRule(attempts=1),
    ContextOverflow: RetryRule(attempts=1, can_fall_back=False),
    BadRequest: RetryRule(attempts=1, can_fall_back=False),
}
_STOP = RetryRule(attempts=1, can_fall_back=False)


def rule_for(error: ProviderError) -> RetryRule:
    """Return the rule of the error's class or its nearest base class in the table."""
    return next((RULES[kind] for kind in type(error).__mro__ if kind in RULES), _STOP)


def wait_before(attempt: int, error: ProviderError, jitter: Callable[[], float] = random.random) -> float:
    """Return the seconds to wait before an attempt.

    Args:
        attempt: The attempt that comes next, 2-based.
        error: Why the one before failed; what the provider asked for wins over the backoff.
        jitter: Returns a number in [0, 1).
    """
    if error.retry_after_s is not None:
        return min(max(0.0, error.retry_after_s), MAX_RETRY_AFTER_S)
    backoff = min(MAX_WAIT_S, BASE_WAIT_S * 2.0 ** (attempt - 2))
    return min(MAX_WAIT_S, backoff * (1 + JITTER_SHARE * jitter()))
