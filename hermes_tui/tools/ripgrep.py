"""Run ripgrep and read its results as they come, up to a cap."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from .base import ToolFailure
from .ports import CancelToken
from .search_types import Found, Hit, Query

_LINE_CAP = 1 << 20
TIMEOUT_S = 60.0


def find_ripgrep(path: str | None) -> str | None:
    """Return the ``rg`` on PATH, else the one installed beside this Python."""
    beside = str(Path(sys.executable).parent)
    return shutil.which("rg", path=path) or shutil.which("rg", path=beside)


def search_content(program: str, query: Query, cancel: CancelToken) -> Found:
    """Search file contents. A pattern that ripgrep cannot read is searched as plain text, with a note."""
    problem = ""
    for options in ([], ["--pcre2"]):
        found, error = _run_content(program, query, options, cancel)
        if not error:
            return found
        problem = problem or error
        if not _is_pattern_problem(error):
            raise ToolFailure(f"ripgrep could not search: {error}")
    found, error = _run_content(program, query, ["-F"], cancel)
    if error:
        raise ToolFailure(f"ripgrep could not search: {error}")
    found.notes.append(f"The pattern is no valid regular expression ({problem}): searched it as plain text.")
    return found


def list_files(
    program: str, query: Query, cancel: CancelToken, keep: Callable[[str], bool], name_glob: str = ""
) -> Found:
    """List files whose path, relative to the root, passes ``keep``.

    Args:
        program: The ripgrep to run.
        query: Where to look.
        cancel: Ends it.
        keep: Has the last word on a path.
        name_glob: What the names are like, when that is known; ripgrep then leaves the others out by itself.
    """
    found = Found()
    options = _common_options(query)
    if name_glob and not query.globs:
        options += _type_options(name_glob)
    with _Process([program, *options, "--files", "--null"], query.root, cancel) as process:
        for names in _split_null(process.stdout):
            found.names += filter(keep, names)
            if len(found.names) >= query.name_cap:
                del found.names[query.name_cap :]
                found.stopped = "cap"
                process.kill()
                break
    found.stopped = process.why_stopped() or found.stopped
    return found


def _run_content(program: str, query: Query, options: list[str], cancel: CancelToken) -> tuple[Found, str]:
    command = [program, *_common_options(query), "--json", *options]
    if query.ignore_case:
        command.append("--ignore-case")
    if "\n" in query.pattern or "\\n" in query.pattern:
        command.append("--multiline")
    if query.context:
        command.append(f"--context={query.context}")
    found = Found()
    with _Process([*command, "--regexp", query.pattern, "--", query.start], query.root, cancel) as process:
        for line in iter(lambda: process.stdout.readline(_LINE_CAP), b""):
            _take(found, line)
            if found.match_count >= query.match_cap:
                found.stopped = "cap"
                process.kill()
                break
    found.stopped = process.why_stopped() or found.stopped
    broken = process.returncode == 2 and not found.hits
    return found, _first_words(process.errors) if broken else ""


def _take(found: Found, line: bytes) -> None:
    """Add one line of ripgrep's JSON."""
    try:
        event = json.loads(line)
    except ValueError:
        if line.startswith(b'{"type":"match"'):
            found.notes.append("A very long line matches and was left out: search it with grep -o in the terminal.")
        return
    if event["type"] not in {"match", "context"}:
        return
    body = event["data"]
    raw = _bytes(body["lines"])
    ranges = body["submatches"]
    found.add(
        Hit(
            path=os.fsdecode(_bytes(body["path"])).removeprefix("./"),
            line=body["line_number"] or 0,
            text=raw.decode("utf-8", "replace").rstrip("\r\n"),
            is_match=event["type"] == "match",
            at=len(raw[: ranges[0]["start"]].decode("utf-8", "replace")) if ranges else 0,
        )
    )


def _bytes(field: dict[str, Any]) -> bytes:
    return field["text"].encode("utf-8", "surrogateescape") if "text" in field else base64.b64decode(field["bytes"])


def _common_options(query: Query) -> list[str]:
    options = ["--no-config", "--no-messages", "--no-require-git"]
    if query.hidden:
        options += ["--hidden", "--glob=!.git"]
    for glob in query.globs:
        if "/" in glob or glob.startswith("!"):
            options.append(f"--glob={glob}")
        else:  # as a type it does not override .gitignore
            options += _type_options(glob)
    return options


def _type_options(glob: str) -> list[str]:
    return ["--type-add", f"wanted:{glob}", "--type=wanted"]


def _is_pattern_problem(error: str) -> bool:
    return any(word in error for word in ("regex", "PCRE2", "look-around", "not allowed", "backreference"))


def _first_words(errors: bytes) -> str:
    lines = [line.strip() for line in errors.decode("utf-8", "replace").splitlines() if line.strip(" ^~")]
    if not lines:
        return "it gave no reason"
    reason = next((line for line in lines if line.startswith("error:")), lines[0])
    return f"regex: {reason.removeprefix('error: ')}" if "regex" in lines[0] else reason.removeprefix("rg: ")


def _split_null(stream: IO[bytes]) -> Iterator[list[str]]:
    """Yield names as they come, many at a time."""
    rest = b""
    while chunk := stream.read1(_LINE_CAP):  # type: ignore[attr-defined]
        whole, _, rest = (rest + chunk).rpartition(b"\0")
        if whole:
            yield os.fsdecode(whole).split("\0")


class _Process:
    """A ripgrep process that ends with the call, with the time, or when enough was found."""

    def __init__(self, command: list[str], cwd: Path, cancel: CancelToken) -> None:
        self._cancel = cancel
        self._timed_out = False
        self.errors = b""
        self.returncode = 0
        self._process = subprocess.Popen(
            command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert self._process.stdout is not None and self._process.stderr is not None
        self.stdout: IO[bytes] = self._process.stdout
        self._reader = threading.Thread(target=self._read_errors, args=(self._process.stderr,), daemon=True)
        self._timer = threading.Timer(TIMEOUT_S, self._time_out)
        self._timer.daemon = True

    def __enter__(self) -> _Process:
        self._reader.start()
        self._timer.start()
        self._remove_hook = self._cancel.on_cancel(self.kill)
        return self

    def __exit__(self, *_: object) -> None:
        self._remove_hook()
        self._timer.cancel()
        self.stdout.close()
        self.returncode = self._process.wait()
        self._reader.join()

    def kill(self) -> None:
        """End it."""
        self._process.kill()

    def why_stopped(self) -> str:
        """``cancel``, ``time`` or empty."""
        return "cancel" if self._cancel.cancelled else "time" if self._timed_out else ""

    def _time_out(self) -> None:
        self._timed_out = True
        self.kill()

    def _read_errors(self, stream: IO[bytes]) -> None:
        self.errors = stream.read(_LINE_CAP)
        while stream.read(_LINE_CAP):
            pass
        stream.close()
