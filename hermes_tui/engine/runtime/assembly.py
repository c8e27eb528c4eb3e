"""Puts together what an agent delegates to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from ...tools.web_fetch import Fetcher
from ...tools.web_providers import find_engine
from ...tools.web_urls import HostRules
from ..checkpoints.history import FileHistory
from ..checkpoints.tracker import Tracker
from ..config.settings import AuxiliarySettings
from ..context.compression import SummaryEngine
from ..policy.approvals import Approvals
from ..policy.redaction import Redactor
from ..providers.base import Endpoint
from ..providers.demo_web import DemoSearch, DemoWeb
from ..types.events import Event
from ..types.ids import new_request_id
from ..types.requests import ClarifyRequest
from ..types.usage import Usage
from .ask import Record
from .auxiliary import Auxiliary, AuxiliaryParts
from .compress import Compressor, CompressParts
from .conversation import Conversation, ConversationParts
from .delegation import Spawn, Subagents
from .hub import Hub
from .interrupt import CancelToken
from .options import AgentOptions, AgentParts
from .recall import StoreRecall
from .route import Route
from .title import ask_title
from .undoing import Undoing


def make_compressor(
    parts: AgentParts,
    conversation: Conversation,
    route: Route,
    *,
    emit: Callable[[Event], None],
    on_usage: Callable[[Endpoint, Usage | None, bool], None],
    pinned: Callable[[], str],
    record: Record | None = None,
) -> Compressor:
    """Return what compresses a conversation, by the settings.

    Args:
        parts: The agent's parts.
        conversation: What gets smaller.
        route: The conversation's own models; they follow those of the side task.
        emit: Takes the events.
        on_usage: Counts what the summaries cost.
        pinned: Returns what must be carried word for word.
        record: Keeps the requests for whoever wants to look.
    """
    settings = parts.settings
    choice = settings.auxiliary.get("compression", AuxiliarySettings())
    asking = AuxiliaryParts(
        resolve=parts.resolve,
        client_for=parts.client_for,
        main=route,
        emit=emit,
        sleep=parts.sleep,
        on_usage=on_usage,
        record=record,
    )
    return Compressor(
        CompressParts(
            engine=parts.context_engine or SummaryEngine(settings.compression.protect_last_n),
            conversation=conversation,
            route=route,
            auxiliary=Auxiliary("compression", choice, asking),
            emit=emit,
            pinned=pinned,
            threshold=settings.compression.threshold,
            is_enabled=settings.compression.enabled and choice.enabled,
        )
    )


def conversation_parts(options: AgentOptions, parts: AgentParts, hub: Hub) -> ConversationParts:
    """Return what an agent's conversation is made from."""
    return ConversationParts(
        store=parts.store,
        hub=hub,
        redactor=Redactor(parts.secrets),
        workspace=options.workspace,
        source=options.platform or "library",
        session_id=options.session_id,
        soul_file=parts.soul_file,
        skip_context_files=options.skip_context_files,
        is_trusted=parts.is_trusted,
        notices=() if options.parent else parts.notices,
        platform=options.platform,
        memory=None if options.skip_memory else parts.memory,
        parent_id=options.parent.session_id if options.parent else "",
        add_usage=options.parent.add_usage if options.parent else None,
        now=parts.now,
    )


def make_services(
    options: AgentOptions, parts: AgentParts, session_id: Callable[[], str], spawn: Spawn
) -> dict[str, object]:
    """Return what tools may need, by the names of ``tools.ports``."""
    services: dict[str, object] = {}
    if parts.memory is not None and not options.skip_memory:
        services["memory"] = parts.memory
    if parts.archive is not None:
        services["recall"] = StoreRecall(parts.archive, session_id)
    if options.parent is None:
        services["delegation"] = Subagents(spawn, parts.settings.delegation.max_children)
    return services


def web_services(parts: AgentParts, model: str) -> dict[str, object]:
    """Return the services of the web tools: the demo's own pages for the demo, which reaches nobody.

    Args:
        parts: The agent's parts.
        model: ``provider/model`` of the next request.
    """
    if model.partition("/")[0] == "demo":
        return {"web": DemoWeb(), "search": DemoSearch()}
    web = parts.settings.web
    services: dict[str, object] = {"web": Fetcher(rules=HostRules(web.allow_hosts, web.deny_hosts))}
    if engine := find_engine(web.search_provider, web.search_url, parts.env):
        services["search"] = engine
    return services


def make_undoing(
    options: AgentOptions,
    parts: AgentParts,
    conversation: Conversation,
    emit: Callable[[Event], None],
    between_turns: Callable[[], AbstractContextManager[None]],
    tracker: Tracker | None,
) -> Undoing:
    """Return what takes back exchanges, and what their turns did to files."""
    db = parts.checkpoints
    return Undoing(
        conversation,
        parts.store,
        FileHistory(db, options.workspace, parts.store.lineage_of) if db is not None else None,
        parts.spill_dir / "images",
        emit=emit,
        between_turns=between_turns,
        problem=lambda: tracker.problem if tracker is not None else "",
    )


def side_endpoint(task: str, parts: AgentParts, route: Route) -> Endpoint:
    """Return where a side task asks: its own model, else the present one."""
    choice = parts.settings.auxiliary.get(task, AuxiliarySettings())
    return parts.resolve(choice.model) if choice.model else route.endpoint


def title_asker(parts: AgentParts, route: Route) -> Callable[[CancelToken, str, str], str]:
    """Return what asks for a title: the side task's models, then the present one; empty when none gives one."""
    choice = parts.settings.auxiliary.get("title", AuxiliarySettings())

    def ask(token: CancelToken, user_text: str, answer: str) -> str:
        own = (choice.model,) if choice.model else ()
        for model in (*own, *choice.fallbacks, *route.models_left[:1]) if choice.enabled else ():
            title = ask_title(parts.resolve(model), parts.client_for, token, user_text, answer)
            if title or token.cancelled:
                return title
        return ""

    return ask


def ask_person(approvals: Approvals, agent_id: str, token: CancelToken, question: str, choices: Sequence[str]) -> str:
    """Ask the person; blocks; empty when nobody is there."""
    request = ClarifyRequest(
        request_id=new_request_id(), call_id="", question=question, choices=tuple(choices), agent_id=agent_id
    )
    return approvals.ask(request, token).text
