"""Every setting, its type, its default and what it means. Frozen; made by ``loader.py``.

``metadata`` holds the smallest and the largest value that make sense.

The docstring under a field is its documentation everywhere: README table, settings screen, error messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ..types.preferences import ApprovalMode, UiSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """``[providers.NAME.models.MODEL]``: facts that win over everything looked up."""

    context_window: int = 0
    """Tokens; 0 means unknown."""
    max_output_tokens: int = 0
    """Tokens; 0 leaves it to the provider."""
    api_mode: str = ""
    """Overrides the provider's API mode for this model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSettings:
    """``[providers.NAME]``: a new provider, or changes to a shipped one."""

    base_url: str = ""
    """Root of the API, usually ending in ``/v1``."""
    api_mode: str = ""
    """``chat_completions``, ``codex_responses`` or ``anthropic_messages``; resolved from the URL when empty."""
    api_key_env: str = ""
    """Environment variable that holds the key."""
    api_key_command: tuple[str, ...] = ()
    """Program and arguments that print the key."""
    api_key: str = ""
    """The key itself, or several with commas between them; an environment variable is safer."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Extra request headers."""
    quirks: tuple[str, ...] = ()
    """Peculiarities of its API: ``no_stream_options``, ``max_completion_tokens``, ``short_ids``, ``echo_reasoning``."""
    models: Mapping[str, ModelFacts] = field(default_factory=dict)
    """Facts about single models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """``[agent]``."""

    max_turns: int = field(default=90, metadata={"min": 1})
    """Model requests per turn before the agent must sum up."""
    reasoning_effort: str = ""
    """``minimal``, ``low``, ``medium``, ``high``; empty leaves it to the provider."""
    max_output_tokens: int = 0
    """Cap of one answer in tokens; 0 leaves it to the provider."""
    toolsets: tuple[str, ...] = ()
    """Enabled toolsets; empty enables all."""
    cache_ttl: Literal["5m", "1h", "off"] = "5m"
    """How long Anthropic may cache the prompt; an hour costs more to write, ``off`` marks nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectRules:
    """``[approvals.projects."/folder"]``: rules that hold below one folder only."""

    allow: tuple[str, ...] = ()
    """Commands that never ask there."""
    deny: tuple[str, ...] = ()
    """Commands that are always refused there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalSettings:
    """``[approvals]``."""

    mode: ApprovalMode = "ask"
    """``ask`` asks before danger, ``strict`` before all that is not provably harmless, ``smart`` lets the model of
    ``auxiliary.approval`` clear what it is sure about, ``plan`` only reads, ``off`` asks only before a file tool
    changes what steers the agent or runs later on its own."""
    edits: Literal["auto", "ask"] = "auto"
    """``auto`` writes files inside the workspace without asking, ``ask`` shows the diff first."""
    timeout_s: float = field(default=0.0, metadata={"min": 0.0})
    """Seconds until an unanswered approval counts as denied; 0 waits for ever."""
    allow: tuple[str, ...] = ()
    """Commands that never ask, as shell words: program, then leading words."""
    deny: tuple[str, ...] = ()
    """Commands that are always refused."""
    deny_paths: tuple[str, ...] = ()
    """Path patterns that are always refused; ``!`` excepts; the last match wins."""
    projects: Mapping[str, ProjectRules] = field(default_factory=dict)
    """Rules by folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuxiliarySettings:
    """``[auxiliary.TASK]``."""

    enabled: bool = True
    """False leaves the task out."""
    model: str = ""
    """``provider/model``; empty uses the main model."""
    fallbacks: tuple[str, ...] = ()
    """Models to try in order when that one fails; the main model comes last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionSettings:
    """``[compression]``."""

    threshold: float = field(default=0.5, metadata={"min": 0.1, "max": 0.95})
    """Part of the context window at which older messages are summarised (0.1 to 0.95)."""
    protect_last_n: int = field(default=20, metadata={"min": 0})
    """Newest messages that are kept as they are, where there is room for them."""
    enabled: bool = True
    """False leaves it to ``/compress``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DelegationSettings:
    """``[delegation]``."""

    max_iterations: int = field(default=50, metadata={"min": 1})
    """Model requests that a subagent may make."""
    max_children: int = field(default=3, metadata={"min": 1, "max": 3})
    """Subagents of one call that work at the same time."""
    model: str = ""
    """``provider/model`` of subagents; empty uses the main model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetSettings:
    """``[budget]``."""

    max_tokens_per_turn: int = field(default=0, metadata={"min": 0})
    """Tokens of one turn, subagents included; at the limit the person is asked, without a screen the turn sums up and
    ends. 0 sets no limit."""
    max_tokens: int = field(default=0, metadata={"min": 0})
    """The same for a whole session."""
    max_cost_usd_per_turn: float = field(default=0.0, metadata={"min": 0.0})
    """Dollars of one turn; requests without a known price count nothing. 0 sets no limit."""
    max_cost_usd: float = field(default=0.0, metadata={"min": 0.0})
    """Dollars of a whole session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSettings:
    """``[tools]``."""

    terminal_timeout_s: float = field(default=180.0, metadata={"min": 0.1, "max": 600.0})
    """Default time limit of a command, at most 600."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSettings:
    """``[web]``."""

    allow_hosts: tuple[str, ...] = ()
    """Hosts that the web tools may reach although their addresses are private: names (with all below them), IP
    addresses or networks, each with ``:port`` or without."""
    deny_hosts: tuple[str, ...] = ()
    """Hosts that the web tools never reach, in the same form; wins over ``allow_hosts``."""
    search_provider: Literal["auto", "searxng", "brave", "tavily", "ddgs"] = "auto"
    """Who is asked by ``web_search``; ``auto`` takes the first that is set up, in this order."""
    search_url: str = ""
    """Address of your SearXNG, such as ``http://127.0.0.1:8888``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointSettings:
    """``[checkpoints]``."""

    enabled: bool = True
    """Keep what is needed to take back the agent's changes to files; False takes back messages only."""
    max_total_mb: int = field(default=500, metadata={"min": 1})
    """What may be kept of all folders, packed; the oldest goes first."""
    keep_days: float = field(default=30.0, metadata={"min": 0.0})
    """Age at which it goes anyway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings."""

    model: str = ""
    """``provider/model``; empty opens the welcome screen."""
    fallback_providers: tuple[str, ...] = ()
    """Models to try in order when the first one fails."""
    providers: Mapping[str, ProviderSettings] = field(default_factory=dict)
    """Providers by name."""
    agent: AgentSettings = AgentSettings()
    """How long a turn may run."""
    approvals: ApprovalSettings = ApprovalSettings()
    """What asks before it runs."""
    compression: CompressionSettings = CompressionSettings()
    """When older messages are summarised."""
    auxiliary: Mapping[str, AuxiliarySettings] = field(default_factory=dict)
    """Side tasks by name: ``title``, ``compression``, ``approval`` (the second opinion of mode ``smart``)."""
    delegation: DelegationSettings = DelegationSettings()
    """Other agents that do a part of the work."""
    budget: BudgetSettings = BudgetSettings()
    """Limits on tokens and money."""
    tools: ToolSettings = ToolSettings()
    """Limits of tools."""
    web: WebSettings = WebSettings()
    """What the web tools may reach."""
    checkpoints: CheckpointSettings = CheckpointSettings()
    """Undo of the agent's changes to files."""
    ui: UiSettings = field(default_factory=UiSettings)
    """The screen."""
