"""Which endpoint the next request goes to: the chosen model, or a fallback while the chosen one cools down."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from ..providers.base import Endpoint
from ..types.errors import AuthError, ConfigError
from .ports import Resolve

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
    """

    def __init__(
        self,
        resolve: Resolve,
        model: str,
        fallbacks: Sequence[str] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._resolve = resolve
        self._clock = clock
        self._models = [model, *fallbacks]
        self._place = 0
        self._cooled_at = 0.0
        self._endpoint: Endpoint | None = None

    @property
    def model(self) -> str:
        """The chosen model as the user wrote it."""
        return self._models[0]

    @property
    def endpoint(self) -> Endpoint:
        """Where requests go now.

        Raises:
            ConfigError: The model cannot be resolved; the message says why.
            AuthError: Its key is missing.
        """
        if self._endpoint is None:
            self._endpoint = self._resolve(self._models[self._place])
        return self._endpoint

    def names(self) -> tuple[str, str]:
        """Return model and provider for people; what the user wrote when it cannot be resolved."""
        try:
            return self.endpoint.model, self.endpoint.provider
        except UNUSABLE:
            return self._models[self._place], ""

    def set_model(self, model: str) -> Endpoint:
        """Choose another model; the old one stays when it cannot be resolved.

        Raises:
            ConfigError: The model cannot be resolved.
        """
        endpoint = self._resolve(model)
        self._models[0], self._place, self._endpoint = model, 0, endpoint
        return endpoint

    def set_window(self, tokens: int) -> Endpoint:
        """Correct the present endpoint's context window once it is known."""
        self._endpoint = replace(self.endpoint, context_window=tokens)
        return self._endpoint

    def start_turn(self) -> None:
        """Return to the chosen model once its cooldown is over."""
        if self._place and self._clock() >= self._cooled_at:
            self._place, self._endpoint = 0, None

    def refresh_key(self) -> bool:
        """Read the credential again; True when it is another one now."""
        old = self.endpoint
        self._endpoint = self._resolve(self._models[self._place])
        return self._endpoint.api_key != old.api_key

    def fall_back(self) -> Endpoint | None:
        """Move on to the next model that can be resolved, or return None when there is none left."""
        if self._place == 0:
            self._cooled_at = self._clock() + COOLDOWN_S
        for place in range(self._place + 1, len(self._models)):
            try:
                endpoint = self._resolve(self._models[place])
            except UNUSABLE:
                continue
            self._place, self._endpoint = place, endpoint
            return endpoint
        return None
