"""Clients of databases: statements that drop or empty ask."""

from __future__ import annotations

import re

from ..facts import Call, Issue, Level, Outcome, Word
from .rows import danger, unknown

_DESTROYS = re.compile(
    r"\b(?:drop\s+(?:table|database|schema|index|view|user|role|collection)|truncate\b|delete\s+from\s+[\w.\"`]+\s*(?:;|$)|"
    r"alter\s+(?:user|role|system)|grant\b|revoke\b|dropDatabase|deleteMany|\.drop\(|flushall|flushdb|shutdown\b|"
    r"config\s+set|copy\s+.*\bprogram\b|load_extension|writefile\s*\(|\bedit\s*\(|into\s+(?:out|dump)file|xp_cmdshell)",
    re.I,
)
_ESCAPES = re.compile(
    r"(?:^|[\n;])\s*(?:\.(?:shell|system|import|output|once|load|excel|backup|save|clone|ar|archive)\b|\.read\s*[\"']?\||"
    r"(?:system|pager|tee|edit)\s)|"
    r"\\(?:!|(?:copy|out|write|edit|[oweTP])\b|gx?\s*(?:\([^)]*\)\s*)?\S)|\\\w+[^\n]*`",
    re.I,
)
"""Commands of sqlite3 (at the start of a line), mysql and psql (anywhere) that run a program or write a file. Source:
the manuals of the three."""


_GIVEN = re.compile(r"-[a-z]*[cefqx]|--(?:command|execute|file|eval|query)\b", re.I)
"""Options after which a client reads no statements from its input."""


def check_statements(call: Call) -> Outcome:
    """Look at every statement for what destroys, and for commands that leave the client."""
    return Outcome(_judge(call, any(_GIVEN.match(word.text) for word in call.command.words[1:])))


def check_sqlite(call: Call) -> Outcome:
    """``sqlite3 FILE STATEMENT``: the file is written."""
    paths = [
        issue
        for word in call.args.operands[:1]
        if word.text != ":memory:"
        for issue in call.guard.judge(Word(word.text, word.start, word.end), "write", call.command.cwds)
    ]
    return Outcome([*_judge(call, len(call.args.operands) > 1), *paths], operands=[])


def _judge(call: Call, is_given: bool) -> list[Issue]:
    command = call.command
    issues: list[Issue] = []
    if command.stdin and command.stdin_text is None and not is_given:
        issues.append(Issue(Level.DANGER, "runs statements from a pipe or a file", "text"))
    for text in (*(word.text for word in command.words[1:]), command.stdin_text or ""):
        match = _DESTROYS.search(text)
        if match:
            issues.append(Issue(Level.DANGER, f"destroys or opens a database: {match[0].strip()}", "text"))
        if _ESCAPES.search(text):
            issues.append(Issue(Level.DANGER, "leaves the database client for the shell or files", "text"))
    return issues[:2]


ROWS = [
    *unknown(
        "psql mysql mariadb mongosh mongo redis-cli clickhouse-client cqlsh sqlcmd influx duckdb usql pgcli mycli",
        "-*",
        raw=True,
        check=check_statements,
        remember=False,
    ),
    *unknown(
        "sqlite3 sqlite litecli",
        "-*",
        "-json -csv -header -readonly -batch -line -column -separator= -cmd=",
        single=True,
        check=check_sqlite,
        remember=False,
    ),
    *unknown("pg_dump mysqldump mongodump pg_restore createdb createuser", remember=False),
    *danger(
        "dropdb dropuser mongorestore redis-server pg_ctl pg_resetwal mysqladmin initdb",
        "creates, stops or deletes databases",
    ),
]
