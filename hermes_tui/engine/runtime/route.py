"""Which endpoint the next request goes to: the chosen model, or a fallback while the chosen one cools down."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from ..providers.base import Endpoint
from ..types.errors import AuthError, ConfigError
from .ports import Resolve

log = logging.getLogger(__name__)

COOLDOWN_S = 60.0
"""How long a model that failed for good is left alone."""
UNUSABLE = (ConfigError, AuthError)
"""What resolving a model raises: it makes no sense, or its key is missing."""


class Route:
    """The present endpoint of one agent. Not locked: the agent thread uses it, between turns anyone may set the model.

    Args:
        resolve: Model id -> endpoint.
        model: ``provider/model``.
        fallbacks: Models to try in order.
        clock: Monotonic seconds.
        forget_key: Makes the next resolving of this provider look for its key anew.
    """

    def __init__(
        self,
        resolve: Resolve,
        model: str,
        fallbacks: Sequence[str] = (),
        clock: Callable[[], float] = time.monotonic,
        forget_key: Callable[[str], None] = lambda provider: None,
    ) -> None:
        self._resolve = resolve
        self._clock = clock
        self._forget_key = forget_key
        self._quirks: dict[str, frozenset[str]] = {}
        self._windows: dict[str, int] = {}
        self._models = [model, *fallbacks]
        self._place = 0
        self._cooled_at = 0.0
        self._endpoint: Endpoint | None = None
        self._has_rotated = False

    @property
    def model(self) -> str:
        """The chosen model as the user wrote it."""
        return self._models[0]

    @property
    def models_left(self) -> list[str]:
        """The present model and those that would follow it."""
        return self._models[self._place :]

    @property
    def endpoint(self) -> Endpoint:
        """Where requests go now.

        Raises:
            ConfigError: The model cannot be resolved; the message says why.
            AuthError: Its key is missing.
        """
        if self._endpoint is None:
            self._endpoint = self._resolved(self._models[self._place])
        return self._endpoint

    def names(self) -> tuple[str, str]:
        """Return model and provider for people; what the user wrote when it cannot be resolved."""
        try:
            return self.endpoint.model, self.endpoint.provider
        except Exception:  # noqa: BLE001 - whatever it is, the request says it
            return self._models[self._place], ""

    def set_model(self, model: str) -> Endpoint:
        """Choose another model; the old one stays when it cannot be resolved.

        Raises:
            ConfigError: The model cannot be resolved.
        """
        endpoint = self._resolved(model)
        self._models[0], self._place, self._endpoint = model, 0, endpoint
        return endpoint

    def set_window(self, tokens: int) -> Endpoint:
        """Correct the present endpoint's context window once it is known."""
        endpoint = self.endpoint
        self._windows[endpoint.id] = tokens
        self._endpoint = replace(endpoint, context_window=tokens)
        return self._endpoint

    def start_turn(self) -> None:
        """Return to the chosen model and its first key once its cooldown is over."""
        if (self._place or self._has_rotated) and self._clock() >= self._cooled_at:
            self._place, self._endpoint, self._has_rotated = 0, None, False

    def add_quirk(self, quirk: str) -> bool:
        """Remember what the present endpoint does not take; False when that was known."""
        endpoint = self.endpoint
        if quirk in endpoint.quirks:
            return False
        self._quirks[endpoint.id] = self._quirks.get(endpoint.id, frozenset()) | {quirk}
        self._endpoint = replace(endpoint, quirks=endpoint.quirks | {quirk})
        return True

    def refresh_key(self) -> bool:
        """Read the credential again; True when it is another one now. Where none is found the old one stays."""
        old = self.endpoint
        self._forget_key(old.provider)
        try:
            self._endpoint = self._resolved(self._models[self._place])
        except UNUSABLE as error:
            log.info("the key of %s could not be read again: %s", old.provider, error)
            return False
        return self._endpoint.api_key != old.api_key

    def next_key(self) -> bool:
        """Go on with the provider's next key; False when there is none left."""
        endpoint = self.endpoint
        if not endpoint.spare_keys:
            return False
        self._endpoint = replace(endpoint, api_key=endpoint.spare_keys[0], spare_keys=endpoint.spare_keys[1:])
        self._has_rotated, self._cooled_at = True, self._clock() + COOLDOWN_S
        return True

    def fall_back(self) -> Endpoint | None:
        """Move on to the next model that can be resolved, or return None when there is none left."""
        if self._place == 0:
            self._cooled_at = self._clock() + COOLDOWN_S
        for place in range(self._place + 1, len(self._models)):
            try:
                endpoint = self._resolved(self._models[place])
            except UNUSABLE:
                continue
            self._place, self._endpoint = place, endpoint
            return endpoint
        return None

    def _resolved(self, model: str) -> Endpoint:
        endpoint = self._resolve(model)
        return replace(
            endpoint,
            quirks=endpoint.quirks | self._quirks.get(endpoint.id, frozenset()),
            context_window=self._windows.get(endpoint.id, endpoint.context_window),
        )
