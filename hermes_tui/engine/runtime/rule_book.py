"""The stored approval rules of one installation: listed, deleted, counted, for all open sessions at once."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from weakref import WeakSet

from ..config.choices import change_rule, save_rule
from ..config.loader import load_settings
from ..config.paths import Paths
from ..config.settings import ApprovalSettings
from ..policy.allowlist import parse_rule
from ..policy.gate.gate import ShellGate
from ..policy.rule_hits import RuleHits
from ..types.choices import AllowRuleRow, RuleKind
from ..types.errors import ConfigError

log = logging.getLogger(__name__)

EVERYWHERE = "everywhere"
_TABLE_KEYS: Mapping[RuleKind, str] = {"allow": "allow", "deny": "deny", "deny_path": "deny_paths"}


class RuleBook:
    """Keeps what "always" remembers in ``settings.toml``. Any thread; blocks on the disk.

    Args:
        paths: Where the settings are.
        env: Usually ``os.environ``.
    """

    def __init__(self, paths: Paths, env: Mapping[str, str]) -> None:
        self._paths = paths
        self._env = env
        self._lock = threading.Lock()
        self._gates: WeakSet[ShellGate] = WeakSet()
        self._hits = RuleHits(paths.rule_hits_file)

    def new_gate(self, settings: ApprovalSettings) -> ShellGate:
        """Make the gate of one session."""
        gate = ShellGate(
            settings,
            rules_store=self,
            protected=(self._paths.config_dir, self._paths.data_dir),
            hits=self._hits,
        )
        with self._lock:
            self._gates.add(gate)
        return gate

    def save(self, rules: Sequence[str], folder: str) -> None:
        """Add allow rules for the folder, everywhere when it is empty.

        Raises:
            ConfigError: They cannot be written.
        """
        for rule in rules:
            save_rule(self._paths, "allow", rule, folder)

    def rows(self) -> list[AllowRuleRow]:
        """The rules in force, with how often each decided."""
        approvals = load_settings(self._env).settings.approvals
        rows: list[tuple[RuleKind, Sequence[str], str]] = [
            ("allow", approvals.allow, EVERYWHERE),
            ("deny", approvals.deny, EVERYWHERE),
            ("deny_path", approvals.deny_paths, EVERYWHERE),
        ]
        for folder, rules in approvals.projects.items():
            rows += [("allow", rules.allow, folder), ("deny", rules.deny, folder)]
        return [
            AllowRuleRow(rule=rule, kind=kind, scope=scope, hits=self._hits.count(rule))
            for kind, texts, scope in rows
            for rule in texts
        ]

    def change(self, row: AllowRuleRow, text: str | None) -> None:
        """Put another text in a rule's place, or forget it (None), in its file and in every open session.

        Raises:
            ConfigError: It is no stored rule, the text is none, or the file cannot be written.
        """
        folder = "" if row.scope == EVERYWHERE else row.scope
        if text is not None and row.kind != "deny_path" and parse_rule(text) is None:
            raise ConfigError(f"{text!r} is no rule.", hint="Write a program and its leading words, such as: git push")
        if text is not None and not text.strip("! "):
            raise ConfigError("A pattern without a path would match nothing.", hint="Write one, such as **/.env")
        if not change_rule(self._paths, _TABLE_KEYS[row.kind], row.rule, text, folder):
            raise ConfigError(
                f"{row.rule!r} is not stored in a file.", hint="It holds for this session, or comes from a variable."
            )
        with self._lock:
            gates = list(self._gates)
        for gate in gates:
            gate.forget(row.rule, row.kind, folder)
            if text is not None:
                gate.adopt(text, row.kind, folder)

    def save_hits(self) -> None:
        """Keep the counts for the next start."""
        try:
            self._hits.save()
        except ConfigError as error:
            log.warning("the hits of rules were not kept: %s", error)
