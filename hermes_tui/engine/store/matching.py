"""From a query to what SQLite is asked, and what is compared in the text afterwards."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass

from . import filters, lineage
from .filters import Condition, FilterPlan
from .query import Query
from .snippets import pattern_of
from .terms import Term
from .text import fold, plain_text

FEW_SESSIONS = 1000
"""Up to this many sessions a filter on sessions is answered by the index itself."""
TEXT_COLUMNS = "m.role, m.content, m.content_json, m.tool_calls, m.partial"
"""The arguments of :func:`~.text.plain_text`, from ``messages m``."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a query is answered."""

    match: str
    """Full-text expression for words and facets; empty when the messages themselves have to be read."""
    conditions: tuple[Condition, ...]
    """On ``messages m`` and ``sessions s``."""
    session_conditions: tuple[Condition, ...]
    """The part of them that is about sessions alone, for hits in titles."""
    checks: tuple[tuple[Term, ...], ...]
    """Clauses that must also be found in the text."""
    excluded: tuple[Term, ...]
    """Terms that must not be found in the text."""
    title_match: str
    """Full-text expression for titles; empty when titles are not searched."""
    query: Query
    pattern: re.Pattern[str] | None
    """Finds any of the terms in folded text."""
    top_id: int
    """No match has a larger id."""
    is_about_sessions: bool = False
    """Only filters on sessions: nothing to find in messages."""
    shown_no: int = 0
    """Fold every hit under this session; 0 for the session that stands for the hit's."""

    @property
    def title_checks(self) -> tuple[tuple[Term, ...], ...]:
        """Clauses that the index cannot decide alone."""
        return tuple(clause for clause in self.query.clauses if any(term.is_literal for term in clause))

    @property
    def compares_text(self) -> bool:
        """Whether the index alone does not decide."""
        return bool(self.checks or self.excluded)

    def sql(self, condition: str) -> str:
        """Return the statement for matching rows, newest first; ``condition`` bounds ``m.id``."""
        text = f", {TEXT_COLUMNS}" if self.compares_text else ""
        columns = f"m.id, s.shown_no, m.created_at{text}"
        where = "".join(f" AND {item.sql}" for item in self.conditions)
        if self.match:
            # The narrow index spares reading the row, with its long texts, of every match.
            narrow = "" if self.compares_text else "INDEXED BY messages_meta"
            return (
                f"SELECT {columns} FROM messages_fts CROSS JOIN messages m {narrow} ON m.id = messages_fts.rowid "
                "CROSS JOIN sessions s ON s.no = m.session_no "
                f"WHERE messages_fts MATCH ? AND {condition.replace('m.id', 'messages_fts.rowid')}{where} "
                "ORDER BY messages_fts.rowid DESC"
            )
        return (
            f"SELECT {columns} FROM messages m CROSS JOIN sessions s ON s.no = m.session_no "
            f"WHERE m.active = 1 AND {condition}{where} ORDER BY m.id DESC"
        )

    def values(self, *bounds: object) -> tuple[object, ...]:
        """Return the values for :meth:`sql`."""
        match = (self.match,) if self.match else ()
        return (*match, *bounds, *(value for item in self.conditions for value in item.values))

    def accepts(self, columns: Sequence[object]) -> bool:
        """Compare a text, given as :data:`TEXT_COLUMNS`, with what the index could not decide."""
        return _holds(fold(plain_text(*columns)), self.checks, self.excluded)

    def accepts_title(self, title: str) -> bool:
        """The same for a title that the index found."""
        if not self.title_checks and not self.query.excluded:
            return True
        return _holds(fold(title), self.title_checks, self.query.excluded)


def _holds(folded: str, clauses: tuple[tuple[Term, ...], ...], excluded: tuple[Term, ...]) -> bool:
    found = all(any(term.regex.search(folded) for term in clause) for clause in clauses)
    return found and not any(term.regex.search(folded) for term in excluded)


def make_plan(conn: sqlite3.Connection, parsed: Query, *, cwd: str, session_id: str, is_indexed: bool) -> Plan | None:
    """Return the plan for a query; None when its filters leave no session."""
    wanted = filters.plan(parsed.filters, time.time())
    session = [*wanted.session, *_session_times(wanted), *([Condition("s.cwd = ?", (cwd,))] if cwd else [])]
    times = [Condition(f"m.created_at {operator} ?", (moment,)) for operator, moment in wanted.times]
    conditions = [Condition("s.deleted_at IS NULL"), *session, *times]
    scopes: list[str] = []
    shown_no = 0
    if session_id:
        shown_no, scope, words = _scope(conn, session_id)
        conditions.append(scope)
        scopes.append(words)
    if session and (few := _few_sessions(conn, session)) is not None:
        if not few:
            return None
        scopes.append(" OR ".join(f"s{no}" for no in few))
    match = _match(parsed, wanted, scopes) if is_indexed else ""
    if not match:
        conditions += [item.condition for item in wanted.facets]
        conditions += [Condition(f"NOT {item.condition.sql}", item.condition.values) for item in wanted.no_facets]
    literal_only = bool(match)
    return Plan(
        match=match,
        conditions=tuple(conditions),
        session_conditions=tuple(session),
        checks=tuple(c for c in parsed.clauses if not literal_only or any(term.is_literal for term in c)),
        excluded=tuple(term for term in parsed.excluded if not literal_only or term.is_literal),
        title_match="" if wanted.on_messages or not is_indexed else _titles(parsed),
        query=parsed,
        pattern=pattern_of(parsed.terms),
        top_id=_top_id(conn, wanted),
        is_about_sessions=not (parsed.clauses or parsed.excluded or wanted.on_messages),
        shown_no=shown_no,
    )


def _top_id(conn: sqlite3.Connection, wanted: FilterPlan) -> int:
    """Return the id that bounds what was said before a time, so that newer matches are not even read."""
    before = [moment for operator, moment in wanted.times if operator == "<"]
    if not before:
        return lineage.NO_BOUND
    last = conn.execute("SELECT max(last_message_id) FROM sessions WHERE created_at < ?", (min(before),)).fetchone()
    return int(last[0] or 0)


def _session_times(wanted: FilterPlan) -> list[Condition]:
    columns = {"<": "created_at", ">=": "updated_at"}
    return [Condition(f"s.{columns[operator]} {operator} ?", (moment,)) for operator, moment in wanted.times]


def _scope(conn: sqlite3.Connection, session_id: str) -> tuple[int, Condition, str]:
    """Return what limits a search to one session: its own past, what was compressed, its subagents."""
    no = lineage.session_no(conn, session_id)
    shown_no, reason = conn.execute("SELECT shown_no, parent_reason FROM sessions WHERE no = ?", (no,)).fetchone()
    family = "= ?" if reason == "delegation" else "IN (SELECT no FROM sessions WHERE shown_no = ?)"
    sql, values = [f"m.session_no {family}"], [no if reason == "delegation" else shown_no]
    members = [row[0] for row in conn.execute(f"SELECT no FROM sessions WHERE no {family}", values)]
    shared = [part for part in lineage.segments(conn, session_id, with_compressed=True) if part.as_of is not None]
    for part in shared:
        sql.append("(m.session_no = ? AND m.id <= ?)")
        values += [part.session_no, part.max_id]
    words = " OR ".join(f"s{number}" for number in (*members, *(part.session_no for part in shared)))
    return int(shown_no), Condition(f"({' OR '.join(sql)})", tuple(values)), words


def _few_sessions(conn: sqlite3.Connection, conditions: list[Condition]) -> list[int] | None:
    """Return the sessions that meet the conditions, or None when they are many."""
    where = " AND ".join(condition.sql for condition in conditions)
    values = [value for condition in conditions for value in condition.values]
    rows = conn.execute(f"SELECT s.no FROM sessions s WHERE {where} LIMIT ?", (*values, FEW_SESSIONS + 1)).fetchall()
    return [int(row[0]) for row in rows] if len(rows) <= FEW_SESSIONS else None


def body_query(parsed: Query) -> str:
    """Return the full-text expression of the clauses that the index can answer; empty when it can none."""
    clauses = [[term.index_query for term in clause] for clause in parsed.clauses]
    return " AND ".join(f"({' OR '.join(clause)})" for clause in clauses if all(clause))


def _match(parsed: Query, wanted: FilterPlan, scopes: list[str]) -> str:
    body = body_query(parsed)
    positive = [f"body : ({body})"] if body else []
    positive += [f"facets : ({words})" for words in (*(item.words for item in wanted.facets), *scopes)]
    if not positive:
        return ""
    negative = [f"body : ({term.index_query})" for term in parsed.excluded if not term.is_literal]
    negative += [f"facets : ({item.words})" for item in wanted.no_facets]
    match = f"({' AND '.join(positive)})"
    return f"{match} NOT ({' OR '.join(negative)})" if negative else match


def _titles(parsed: Query) -> str:
    """Return the expression for titles; empty unless the index can answer every clause."""
    if not parsed.clauses or not all(term.index_query for term in parsed.terms):
        return ""
    return body_query(parsed)
