"""``hermes-tui sessions``: its parser; list, search, show, rename and delete. The rest lies beside it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from ..config.paths import find_paths
from ..store.db import SessionDB
from ..types.messages import text_of
from ..types.sessions import SearchHit, SessionRow
from . import session_care, session_files, session_transfer
from .output import ago, clip, out, out_json, table


def main(argv: Sequence[str], parser_class: type[argparse.ArgumentParser] = argparse.ArgumentParser) -> int:
    """Run one sessions command and return the exit code."""
    options = _parser(parser_class).parse_args(argv)
    database = find_paths(os.environ).database
    if options.action == "check" and options.repair:
        session_care.mend(database)
    with SessionDB(database) as store:
        code = _ACTIONS[options.action](store, options)
        if options.action in ("delete", "prune"):
            session_files.forget_erased(store)
        return code


def _parser(parser_class: type[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    parser = parser_class(prog="hermes-tui sessions", description="Stored sessions.")
    actions = parser.add_subparsers(dest="action", required=True, metavar="COMMAND", parser_class=parser_class)

    def add(name: str, help: str) -> argparse.ArgumentParser:
        sub = actions.add_parser(name, help=help, description=help)
        sub.add_argument("--json", action="store_true", help="one JSON value on stdout, nothing else")
        return sub

    listing = add("list", "The newest sessions.")
    listing.add_argument("-n", "--limit", type=int, default=20, help="how many (default 20)")
    listing.add_argument("--here", action="store_true", help="of this folder only")
    listing.add_argument("--archived", action="store_true", help="archived ones too")
    search = add("search", "Find anything ever said.")
    search.add_argument("query", nargs="+", help='words, "a phrase", -not, OR, prefix*, role:user, before:2026-10, ...')
    search.add_argument("-n", "--limit", type=int, default=20, help="how many sessions (default 20)")
    search.add_argument("--here", action="store_true", help="of this folder only")
    add("show", "Print a session.").add_argument("session", metavar="ID|TITLE")
    session_transfer.add_arguments(add)
    rename = add("rename", "Give a session a title.")
    rename.add_argument("session", metavar="ID|TITLE")
    rename.add_argument("title")
    delete = add("delete", "Delete a session.")
    delete.add_argument("session", metavar="ID|TITLE")
    delete.add_argument("--yes", action="store_true", help="do not ask")
    session_files.add_arguments(add)
    session_care.add_arguments(add)
    return parser


def _here(options: argparse.Namespace) -> str | None:
    return str(Path.cwd()) if options.here else None


def _list(store: SessionDB, options: argparse.Namespace) -> int:
    rows = store.list_sessions(cwd=_here(options), limit=options.limit, archived=options.archived)
    if options.json:
        out_json([asdict(row) for row in rows])
    elif rows:
        out(table([_cells(row) for row in rows], ("ID", "TITLE", "USED", "TURNS", "MODEL", "FOLDER")))
    else:
        out("No sessions yet." if not options.here else "No sessions in this folder yet.")
    return 0


def _cells(row: SessionRow) -> tuple[str, ...]:
    title = clip(row.title or "(untitled)", 40)
    return row.id, title, ago(row.updated_at), str(row.turn_count), clip(row.model, 24), clip(row.cwd, 32)


def _search(store: SessionDB, options: argparse.Namespace) -> int:
    page = store.search(" ".join(options.query), limit=options.limit, cwd=_here(options))
    if options.json:
        out_json({"hits": [asdict(hit) for hit in page.hits], "note": page.note})
        return 0
    if page.note:
        sys.stderr.write(page.note + "\n")
    if not page.hits:
        out("Nothing found.")
    for hit in page.hits:
        _print_hit(hit)
    return 0


def _print_hit(hit: SearchHit) -> None:
    title = clip(hit.session.title or "(untitled)", 60)
    out(f"{hit.session.id}  {title}  {ago(hit.session.updated_at)}  {hit.hit_count} hit{'s'[: hit.hit_count != 1]}")
    for snippet in hit.snippets:
        text = snippet.text
        for start, end in sorted(snippet.marks, reverse=True):
            text = f"{text[:start]}[{text[start:end]}]{text[end:]}"
        out(f"    {snippet.role}: {clip(text, 100)}")


def _show(store: SessionDB, options: argparse.Namespace) -> int:
    session_id = store.resolve(options.session)
    if options.json:
        out_json(store.get_session(session_id))
        return 0
    row = store.row(session_id)
    out(f"{row.title or '(untitled)'}\n{row.id}  {row.model}  {row.cwd}\n")
    for stored in store.messages(session_id, limit=1_000_000):
        message = stored.message
        text = text_of(message) or message.get("partial", "")
        calls = ", ".join(call["function"]["name"] for call in message.get("tool_calls", []))
        name = message.get("tool_name") or message["role"]
        out(f"--- {name}{f' calls {calls}' if calls else ''}")
        if text:
            out(text)
    return 0


def _rename(store: SessionDB, options: argparse.Namespace) -> int:
    title = store.rename(store.resolve(options.session), options.title)
    out_json({"title": title}) if options.json else out(f"Now called: {title}")
    return 0


def _delete(store: SessionDB, options: argparse.Namespace) -> int:
    session_id = store.resolve(options.session)
    if not options.yes:
        if not sys.stdin.isatty():
            sys.stderr.write("hermes-tui: deleting asks first; add --yes.\n")
            return 2
        row = store.row(session_id)
        sys.stderr.write(f"Delete {row.title or row.id!r} with {row.message_count} messages for good? [y/N] ")
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            return 1
    store.delete(session_id)
    store.purge_deleted(0)
    out_json({"deleted": session_id}) if options.json else out(f"Deleted {session_id}.")
    return 0


_ACTIONS: Mapping[str, Callable[[SessionDB, argparse.Namespace], int]] = {
    "list": _list,
    "search": _search,
    "show": _show,
    "export": session_transfer.export,
    "import": session_transfer.import_,
    "rename": _rename,
    "delete": _delete,
    "diff": session_files.diff,
    "undo": session_files.undo,
    "prune": session_care.prune,
    "stats": session_care.stats,
    "check": session_care.check,
}
