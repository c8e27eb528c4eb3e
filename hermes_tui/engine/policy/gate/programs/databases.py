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
    r"(?:^|[\n;])\s*(?:\\!|\\copy|\\o|\\w|\.shell|\.system|\.import|\.output|\.once|\.load|system\s)", re.I
)


def check_statements(call: Call) -> Outcome:
    """Look at every word for statements that destroy, and for commands that leave the client."""
    issues: list[Issue] = []
    texts = [word.text for word in call.command.words[1:]] + [call.command.stdin_text or ""]
    for text in texts:
        match = _DESTROYS.search(text)
        if match:
            issues.append(Issue(Level.DANGER, f"destroys or opens a database: {match[0].strip()}", "text"))
        if _ESCAPES.search(text):
            issues.append(Issue(Level.DANGER, "leaves the database client for the shell or files", "text"))
    return Outcome(issues[:2])


def check_sqlite(call: Call) -> Outcome:
    """``sqlite3 FILE STATEMENT``: the file is written."""
    found = check_statements(call)
    first = [word for word in call.args.operands[:1] if word.text != ":memory:"]
    paths = [
        issue
        for word in first
        for issue in call.guard.judge(Word(word.text, word.start, word.end), "write", call.command.cwds)
    ]
    return Outcome([*found.issues, *paths], operands=[])


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
