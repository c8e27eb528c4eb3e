"""The error tree. Every error says what happened and, in ``hint``, what to do next.

::

    HermesError
      ConfigError
      ProviderError
        AuthError  RateLimited  Overloaded  ContextOverflow  ModelNotFound  BillingError
        BadRequest
          OutputCapTooLarge  PartRejected
        Refused  StreamBroken  ProviderTimeout  ConnectionFailed
      Interrupted
      ToolError
      BudgetExceeded
      CompressionFailed
      StoreError
        SessionNotFound  StoreBusy  StoreReadOnly  StoreDamaged  MigrationFailed
      ExtensionError
"""

from __future__ import annotations


class HermesError(Exception):
    """Base of all errors that a user may see.

    Args:
        message: One sentence, no secret, no markup.
        hint: What the user can do next; may be empty.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class ConfigError(HermesError):
    """A setting cannot be used. The message names file, line and key where they are known."""


class ProviderError(HermesError):
    """A model request failed.

    Args:
        status: HTTP status, 0 when there was none.
        code: The provider's own machine code, if any.
        retry_after_s: Seconds the provider asked to wait, if it did.
    """

    retryable = False
    """Whether the same request may succeed later."""

    def __init__(
        self, message: str, *, hint: str = "", status: int = 0, code: str = "", retry_after_s: float | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.code = code
        self.retry_after_s = retry_after_s


class AuthError(ProviderError):
    """401 or 403: the key is missing, wrong or not allowed."""


class BillingError(ProviderError):
    """402, or a quota that waiting does not refill."""


class ModelNotFound(ProviderError):
    """The provider does not know the model."""


class RateLimited(ProviderError):
    """429."""

    retryable = True


class Overloaded(ProviderError):
    """5xx, 529, or an overload event inside a stream."""

    retryable = True


class ContextOverflow(ProviderError):
    """The request is larger than the model's window.

    Args:
        window_tokens: The window the provider stated, if it did.
    """

    def __init__(self, message: str, *, hint: str = "", status: int = 0, window_tokens: int | None = None) -> None:
        super().__init__(message, hint=hint, status=status)
        self.window_tokens = window_tokens


class BadRequest(ProviderError):
    """The 400 family: the provider rejects this very request."""


class OutputCapTooLarge(BadRequest):
    """The provider allows fewer output tokens than were asked for.

    Args:
        max_tokens: What it allows.
    """

    def __init__(self, message: str, *, max_tokens: int, hint: str = "", status: int = 0, code: str = "") -> None:
        super().__init__(message, hint=hint, status=status, code=code)
        self.max_tokens = max_tokens


class PartRejected(BadRequest):
    """The provider rejects one part of the request and would take the rest.

    Args:
        quirk: The quirk by which the part is left out; see ``providers/rejections.py``.
    """

    def __init__(self, message: str, *, quirk: str, hint: str = "", status: int = 0, code: str = "") -> None:
        super().__init__(message, hint=hint, status=status, code=code)
        self.quirk = quirk


class Refused(ProviderError):
    """The provider declined for policy reasons."""


class StreamBroken(ProviderError):
    """The stream ended without its end mark, or carried something unreadable."""

    retryable = True


class ProviderTimeout(ProviderError):
    """No byte arrived for the stall limit, or the connection timed out."""

    retryable = True


class ConnectionFailed(ProviderError):
    """The endpoint cannot be reached."""

    retryable = True


class Interrupted(HermesError):
    """The user stopped what was running."""


class ToolError(HermesError):
    """A tool cannot do what was asked; becomes the call's error result."""


class BudgetExceeded(HermesError):
    """A turn ran out of iterations, tokens or money."""


class CompressionFailed(HermesError):
    """The context could not be made smaller."""


class StoreError(HermesError):
    """The session database cannot do what was asked."""


class SessionNotFound(StoreError):
    """No session has this id or title."""


class StoreBusy(StoreError):
    """Another process held the database for too long."""


class StoreReadOnly(StoreError):
    """The database cannot be written (permissions, newer schema, full disk)."""


class StoreDamaged(StoreError):
    """Pages of the database cannot be read."""


class MigrationFailed(StoreError):
    """The database could not be brought to the current schema; it was left as it was."""


class ExtensionError(HermesError):
    """A plugin, hook or MCP server failed."""
