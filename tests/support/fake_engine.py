"""An engine for tests of screens: keeps sessions in memory, can be told to wait or to fail, notes what it was asked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from hermes_tui.engine.types.changes import Undone
from hermes_tui.engine.types.choices import AllowRuleRow, SettingRow
from hermes_tui.engine.types.errors import HermesError
from hermes_tui.engine.types.models import ConnectionCheck, ModelRow, ProviderRow
from hermes_tui.engine.types.sessions import SearchHit, SearchPage, SessionRow, Snippet, StoredMessage, UsageReport


class FakeEngine:
    """Answers from memory. ``calls`` lists what was asked; ``hold`` makes a named call wait for ``release``."""

    def __init__(
        self, sessions: Sequence[SessionRow] = (), messages: dict[str, list[StoredMessage]] | None = None
    ) -> None:
        self.sessions = list(sessions)
        self.messages = messages or {}
        self.deleted: dict[str, SessionRow] = {}
        self.calls: list[tuple[Any, ...]] = []
        self.models: list[ModelRow] = []
        self.providers: list[ProviderRow] = []
        self.rules: list[AllowRuleRow] = []
        self.settings: list[SettingRow] = []
        self.spent = UsageReport()
        self.rewound = Undone()
        self.check = ConnectionCheck(ok=True, text="It works.")
        self.errors: dict[str, HermesError] = {}
        self.saved_keys: dict[str, str] = {}
        self._gates: dict[Any, threading.Event] = {}

    def hold(self, what: Any) -> Callable[[], None]:
        """Make the call named (or the search for a query) ``what`` wait; returns the function that lets it go."""
        gate = self._gates[what] = threading.Event()
        return gate.set

    def _ask(self, name: str, *args: Any) -> None:
        self.calls.append((name, *args))
        for what in (name, args[0] if args else None):
            if what in self._gates:
                assert self._gates[what].wait(20)
        if name in self.errors:
            raise self.errors[name]

    def asked(self, name: str) -> list[tuple[Any, ...]]:
        return [call[1:] for call in self.calls if call[0] == name]

    def _place(self, session_id: str) -> int:
        return next(i for i, row in enumerate(self.sessions) if row.id == session_id)

    def list_sessions(
        self,
        *,
        cwd: str | None = None,
        sort: str = "updated",
        limit: int = 200,
        offset: int = 0,
        archived: bool = False,
    ) -> list[SessionRow]:
        self._ask("list_sessions", cwd, sort, limit, offset)
        rows = [row for row in self.sessions if row.archived is archived and (cwd is None or row.cwd == cwd)]
        key: dict[str, Callable[[SessionRow], Any]] = {
            "updated": lambda row: -row.updated_at,
            "created": lambda row: -row.created_at,
            "title": lambda row: row.title,
            "cost": lambda row: -(row.cost_usd or 0),
        }
        rows.sort(key=lambda row: (not row.pinned, key[sort](row)))
        return rows[offset : offset + limit]

    def search(self, query: str, *, cwd: str | None = None, limit: int = 50, cursor: str = "") -> SearchPage:
        self._ask("search", query)
        hits = []
        for row in self.sessions:
            if cwd is not None and row.cwd != cwd:
                continue
            snippets = []
            for stored in self.messages.get(row.id, []):
                text = str(stored.message["content"])
                at = text.lower().find(query.lower())
                if at >= 0:
                    marks = ((at, at + len(query)),)
                    snippets.append(Snippet(message_id=stored.id, role=stored.message["role"], text=text, marks=marks))
            at = row.title.lower().find(query.lower())
            if snippets or at >= 0:
                title_marks = ((at, at + len(query)),) if at >= 0 else ()
                hits.append(
                    SearchHit(session=row, snippets=tuple(snippets), hit_count=len(snippets), title_marks=title_marks)
                )
        start = int(cursor or 0)
        more = str(start + limit) if start + limit < len(hits) else ""
        return SearchPage(hits=tuple(hits[start : start + limit]), cursor=more)

    def preview(self, session_id: str, around_id: int | None = None, limit: int = 40) -> list[StoredMessage]:
        self._ask("preview", session_id, around_id)
        messages = self.messages.get(session_id, [])
        if around_id is None:
            return messages[-limit:]
        at = next(i for i, stored in enumerate(messages) if stored.id == around_id)
        return messages[max(0, at - limit // 2) : at + limit // 2]

    def rename_session(self, session_id: str, title: str) -> str:
        self._ask("rename_session", session_id, title)
        taken = {row.title for row in self.sessions}
        final = f"{title} (2)" if title in taken else title
        at = self._place(session_id)
        self.sessions[at] = replace(self.sessions[at], title=final)
        return final

    def delete_session(self, session_id: str) -> None:
        self._ask("delete_session", session_id)
        self.deleted[session_id] = self.sessions.pop(self._place(session_id))

    def undelete_session(self, session_id: str) -> None:
        self._ask("undelete_session", session_id)
        self.sessions.append(self.deleted.pop(session_id))

    def pin_session(self, session_id: str, pinned: bool) -> None:
        self._ask("pin_session", session_id, pinned)
        at = self._place(session_id)
        self.sessions[at] = replace(self.sessions[at], pinned=pinned)

    def archive_session(self, session_id: str, archived: bool) -> None:
        self._ask("archive_session", session_id, archived)
        at = self._place(session_id)
        self.sessions[at] = replace(self.sessions[at], archived=archived)

    def export_session(self, session_id: str, fmt: str = "md") -> str:
        self._ask("export_session", session_id, fmt)
        return f"# {session_id}\n"

    def rewind(self, session_id: str, message_id: int, *, files: bool) -> tuple[str, Undone]:
        self._ask("rewind", session_id, message_id, files)
        return "fork", self.rewound

    def usage(self, since_day: str = "") -> UsageReport:
        self._ask("usage", since_day)
        return self.spent

    def user_messages(self, session_id: str, limit: int = 500) -> list[StoredMessage]:
        self._ask("user_messages", session_id)
        return [stored for stored in self.messages.get(session_id, []) if stored.message["role"] == "user"][-limit:]

    def list_models(self) -> list[ModelRow]:
        self._ask("list_models")
        return self.models

    def list_providers(self, *, probe: bool = True) -> list[ProviderRow]:
        self._ask("list_providers", probe)
        return self.providers

    def check_model(self, model: str, api_key: str = "") -> ConnectionCheck:
        self._ask("check_model", model, api_key)
        return self.check

    def save_api_key(self, provider: str, api_key: str) -> str:
        self._ask("save_api_key", provider)
        self.saved_keys[provider] = api_key
        return "credentials.toml"

    def list_rules(self) -> list[AllowRuleRow]:
        self._ask("list_rules")
        return self.rules

    def list_settings(self, folder: str = "") -> list[SettingRow]:
        self._ask("list_settings", folder)
        return self.settings

    def change_setting(self, key: str, text: str | None) -> str:
        self._ask("change_setting", key, text)
        at = next(i for i, row in enumerate(self.settings) if row.key == key)
        row = self.settings[at]
        value = row.default if text is None else text
        origin = "default" if text is None else "config.toml:1"
        self.settings[at] = replace(row, value=value, text=text or "", origin=origin, is_default=text is None)
        return f"{key} is set."

    def change_rule(self, rule: AllowRuleRow, text: str) -> None:
        self._ask("change_rule", rule, text)
        self.rules = [replace(other, rule=text) if other == rule else other for other in self.rules]

    def delete_rule(self, rule: AllowRuleRow) -> None:
        self._ask("delete_rule", rule)
        self.rules = [other for other in self.rules if other != rule]
