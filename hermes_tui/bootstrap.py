"""The composition root: settings to parts to agents. The one place that picks concrete classes.

Building does no network I/O and imports no SDK; ``warm_up`` does, in a thread.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Collection, Mapping
from pathlib import Path

from .crash_log import write_crash_log
from .engine.config.loader import LoadedSettings, load_settings
from .engine.config.paths import ensure_private_dir
from .engine.config.secrets import Keys, single_keys, stored_keys
from .engine.config.settings import ProviderSettings
from .engine.context.memory import MemoryBook
from .engine.policy.redaction import Redactor
from .engine.policy.trust import TrustStore, settings_in
from .engine.providers.base import Endpoint
from .engine.providers.catalog import PROVIDERS
from .engine.providers.clients import ProviderClients
from .engine.providers.resolve import CUSTOM_KEY_ENV, resolve
from .engine.providers.windows import cost_usd, with_window
from .engine.runtime.agent import Agent, AgentParts
from .engine.runtime.local_engine import LocalEngine
from .engine.runtime.logs import start_log
from .engine.runtime.model_directory import ModelParts
from .engine.runtime.rule_book import RuleBook
from .engine.store.checkpoints import CheckpointDB
from .engine.store.db import SessionDB
from .engine.types.errors import ConfigError, ProviderError, StoreError
from .tools.registry import load_builtin_tools
from .tools.web_providers import KEY_ENVS as SEARCH_KEYS

DEMO_MODEL = "demo/demo"


class Workshop:
    """Everything that agents of one process share: settings, database, connections, keys.

    Args:
        loaded: The settings.
        env: Usually ``os.environ``.
        endpoint_flags: ``provider``, ``api_mode``, ``base_url``, ``api_key`` that override the resolution.
        store: The database; opened from the paths when None.
    """

    def __init__(
        self,
        loaded: LoadedSettings,
        env: Mapping[str, str],
        endpoint_flags: Mapping[str, str] | None = None,
        store: SessionDB | None = None,
    ) -> None:
        self.loaded = loaded
        self.env = env
        self.notices: list[tuple[str, str]] = [(problem.level, problem.text) for problem in loaded.problems]
        self._spare_dir: tempfile.TemporaryDirectory[str] | None = None
        self.store = store or self._open_store()
        self.checkpoints = self._open_checkpoints()
        self.keys = Keys(env, loaded.paths)
        self.trust = TrustStore(loaded.paths.trust_file)
        self.rules = RuleBook(loaded.paths, env)
        self.clients = ProviderClients(env)
        self.registry = load_builtin_tools()
        self.memory = MemoryBook(loaded.paths.memory_file, loaded.paths.user_file)
        self._flags = dict(endpoint_flags or {})
        self._windows: dict[str, int] = {}
        self._secrets: set[str] = set()
        self._has_looked = False
        self._lock = threading.Lock()

    def _open_store(self) -> SessionDB:
        """Open the database; where it cannot be written, a copy that lasts as long as the process, and a notice."""
        store = None
        try:
            store = SessionDB(self.loaded.paths.database)
            reason = store.read_only_reason
        except StoreError as error:
            reason = str(error)
        if store is not None and not reason:
            self.notices.extend(("info", text) for text in store.notices)
            return store
        self.notices.append(("error", f"{reason} This session will not be kept."))
        return self._spare_store(store)

    def _spare_store(self, original: SessionDB | None) -> SessionDB:
        folder = self._spare_folder()
        if original is None:
            return SessionDB(folder / "state.db")
        with original:
            original.copy_to(folder / "copy.db")
        copy = SessionDB(folder / "copy.db")
        if not copy.read_only_reason:
            return copy
        copy.close()  # a newer format: it can be read by its own version only
        return SessionDB(folder / "state.db")

    def _open_checkpoints(self) -> CheckpointDB | None:
        """Open what undo needs, beside the database in use; without it messages can be taken back, files cannot."""
        settings = self.loaded.settings.checkpoints
        if not settings.enabled:
            return None
        path = self.loaded.paths.checkpoints
        if self._spare_dir is not None:
            path = self._spare_folder() / path.name
        try:
            return CheckpointDB(path, max_bytes=settings.max_total_mb * 1_000_000, keep_days=settings.keep_days)
        except StoreError as error:
            self.notices.append(("warning", str(error)))
            return None

    def reload(self) -> LoadedSettings:
        """Read the settings again, for sessions that begin later."""
        self.loaded = load_settings(self.env, self.loaded.flags, self.loaded.paths)
        return self.loaded

    # Models

    def resolve(self, model: str) -> Endpoint:
        """Return where and how to reach a model, with its window when that is known already. Blocks on no network."""
        endpoint = resolve(model, self.loaded.settings, self.env, keys=self.keys, **self._flags)
        if endpoint.api_key:
            self._secrets.update((endpoint.api_key, *endpoint.spare_keys))
        window = self._windows.get(endpoint.id)
        return with_known_window(endpoint, window) if window else endpoint

    def warm_up(self, agent: Agent) -> None:
        """Load what an agent's first request needs: SDK, connection, schema checker, window and prices."""
        endpoint = agent.route.endpoint
        self.clients.warm_up(endpoint)
        agent.warm()
        known = with_window(endpoint, self.loaded.settings)
        self._windows[endpoint.id] = known.context_window
        if known.context_window != endpoint.context_window:
            agent.set_window(known.context_window)

    def secrets(self) -> Collection[str]:
        """Values of the keys in use, and of those that lie ready: a fallback's key is a secret before it is needed."""
        if not self._has_looked:
            self._has_looked = True
            self._secrets.update(self._keys_at_hand())
        return tuple(self._secrets)

    def _keys_at_hand(self) -> tuple[str, ...]:
        given = [self.env.get(name, "") for name in self._key_names()]
        given += [settings.api_key for settings in self.loaded.settings.providers.values()]
        try:
            return (*single_keys(given), *stored_keys(self.loaded.paths))
        except ConfigError:  # the file cannot be read, which resolving says
            return single_keys(given)

    # Parts

    def agent_parts(self, folder: Path | None = None) -> AgentParts:
        """Make the parts of one agent; each session has a gate of its own.

        Args:
            folder: Where it works: a project's own settings count there, once they are trusted.
        """
        paths = self.loaded.paths
        loaded, notices = settings_in(folder, self.loaded, self.trust) if folder else (self.loaded, ())
        return AgentParts(
            settings=loaded.settings,
            notices=notices,
            store=self.store,
            registry=self.registry,
            resolve=self.resolve,
            client_for=self.clients.client_for,
            gate=self.rules.new_gate(loaded.settings.approvals),
            spill_dir=self._spill_dir(),
            soul_file=paths.soul_file,
            env=self.env,
            key_names=self._key_names(),
            secrets=self.secrets,
            is_trusted=self.trust.is_trusted,
            report_crash=self._report_crash,
            forget_key=self.keys.forget,
            memory=self.memory,
            archive=self.store,
            checkpoints=self.checkpoints,
            cost_usd=cost_usd,
        )

    def _report_crash(self, error: BaseException) -> str:
        place = write_crash_log(error, self.loaded.paths.log_dir, Redactor(self.secrets).text)
        return "" if "\n" in place else place  # no file could be made; the log has it

    def _spill_dir(self) -> Path:
        try:
            return ensure_private_dir(self.loaded.paths.cache_dir / "output")
        except ConfigError:  # a read-only home: the full logs of long output live as long as the process
            return self._spare_folder() / "output"

    def _spare_folder(self) -> Path:
        """A private folder for what cannot be kept; gone with the process."""
        if self._spare_dir is None:
            self._spare_dir = tempfile.TemporaryDirectory(prefix="hermes-tui-", ignore_cleanup_errors=True)
        return Path(self._spare_dir.name)

    def _key_names(self) -> Collection[str]:
        names = {CUSTOM_KEY_ENV, *SEARCH_KEYS, *(name for provider in PROVIDERS.values() for name in provider.key_envs)}
        own: Mapping[str, ProviderSettings] = self.loaded.settings.providers
        return names | {settings.api_key_env for settings in own.values() if settings.api_key_env}

    def close(self, *, keep_store: bool = False) -> None:
        """Keep the hits of rules, and close connections and the database."""
        self.rules.save_hits()
        self.clients.close()
        if self.checkpoints is not None:
            self.checkpoints.close()
        if not keep_store:
            self.store.close()


def with_known_window(endpoint: Endpoint, window: int) -> Endpoint:
    """Return the endpoint with a window that was looked up before."""
    from dataclasses import replace

    return replace(endpoint, context_window=window)


def build_engine(loaded: LoadedSettings, *, demo: bool = False, **endpoint_flags: str) -> LocalEngine:
    """Build the engine behind a front end.

    Args:
        loaded: The settings.
        demo: Use the scripted demo model, whatever is configured.
        endpoint_flags: ``provider``, ``api_mode``, ``base_url`` from the command line.

    Raises:
        StoreError: Not even a temporary database can be made.
    """
    shop = Workshop(loaded, os.environ, endpoint_flags)
    end_log = start_log(loaded.paths.log_dir, os.environ, Redactor(shop.secrets).text)
    if not shutil.which("bash"):
        effect = (
            "commands run in a plain sh, without a lasting state" if shutil.which("sh") else "no command can be run"
        )
        shop.notices.append(("warning", f"bash was not found; {effect}."))
    model = DEMO_MODEL if demo else _default_model(shop, endpoint_flags)
    return LocalEngine(
        shop.store,
        shop.agent_parts,
        ModelParts(
            loaded=lambda: shop.loaded,
            reload=shop.reload,
            trust=shop.trust,
            env=os.environ,
            keys=shop.keys,
            client_for=shop.clients.client_for,
            rules=shop.rules,
        ),
        shop.trust,
        memory=shop.memory,
        default_model=model,
        may_change_model=not (demo or endpoint_flags),
        notices=shop.notices,
        warm_up=shop.warm_up,
        secrets=shop.secrets,
        checkpoints=shop.checkpoints,
        image_dir=loaded.paths.cache_dir / "output" / "images",
        on_closed=end_log,
    )


def _default_model(shop: Workshop, endpoint_flags: Mapping[str, str]) -> str:
    """The configured model as ``provider/model``; as written when it cannot be resolved (the turn says why)."""
    configured = shop.loaded.settings.model
    if not configured and not endpoint_flags:
        return ""
    try:
        return shop.resolve(configured).id
    except (ConfigError, ProviderError):
        return configured


__all__ = ["Workshop", "build_engine"]
