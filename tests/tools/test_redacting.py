"""Secrets that come in parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes_tui.engine.config.secret_shapes import redact_shapes
from hermes_tui.tools.capture import KEPT_CHARS, Capture
from hermes_tui.tools.job_output import JobOutput
from hermes_tui.tools.redacting import StreamRedactor

BODY = [letter * 64 for letter in "ABCDEF"]
KEY = "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *BODY, "-----END RSA PRIVATE KEY-----", "after it", ""])


@pytest.mark.parametrize("size", [1, 2, 3, 20])
def test_a_private_key_is_taken_out_however_it_is_cut(size: int) -> None:
    lines = f"before\n{KEY}".splitlines(keepends=True)
    clean = StreamRedactor(redact_shapes)
    text = "".join(clean("".join(lines[at : at + size])) for at in range(0, len(lines), size))
    assert text.startswith("before\n[redacted:private_key]") and text.endswith("after it\n")
    assert not any(line in text for line in BODY)


def test_what_follows_a_line_that_only_looks_like_a_key_stays() -> None:
    clean = StreamRedactor(redact_shapes)
    parts = ["a.py:1:-----BEGIN PRIVATE KEY-----\n", "done\n", "A" * 64 + "\n"]
    assert "".join(map(clean, parts)).endswith("done\n" + "A" * 64 + "\n")


def test_logs_hold_no_private_key_that_came_line_by_line(tmp_path: Path) -> None:
    job = JobOutput(tmp_path / "job.log", redact_shapes)
    capture = Capture(tmp_path / "long.log", lambda text: None, redact_shapes)
    capture.feed(b"x\n" * KEPT_CHARS)
    for line in KEY.encode().splitlines(keepends=True):
        job.feed(line)
        capture.feed(line)
    job.finish()
    capture.finish()
    for name in ("job.log", "long.log"):
        text = (tmp_path / name).read_text()
        assert "after it" in text and "AAAA" not in text and "FFFF" not in text
