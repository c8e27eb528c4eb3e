"""The execute_code tool: a real child process; its calls are answered by a table."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from support.tool_context import PlainContext, call_tool, plain_context

from hermes_tui.tools import execute_code
from hermes_tui.tools.execute_code import MAX_CALLS, SHOWN_CALLS
from hermes_tui.tools.ports import InnerResult
from hermes_tui.tools.registry import load_builtin_tools


class Calls:
    """Answers calls of a script from a table; keeps them."""

    signatures: Mapping[str, tuple[str, ...]] = {
        "clarify": ("question",),
        "read_file": ("path", "offset", "limit"),
        "terminal": ("command",),
        "web_extract": ("urls",),
    }

    def __init__(self) -> None:
        self.made: list[tuple[str, dict[str, Any], float]] = []
        self.answer: Callable[[str, Mapping[str, Any]], dict[str, Any]] = lambda name, args: {"ok": True, "got": args}
        self.waited_s = 0.0

    def call(self, name: str, args: Mapping[str, Any], context: object, limit_s: float, *, by: str) -> InnerResult:
        assert by == "execute_code"
        self.made.append((name, dict(args), limit_s))
        return InnerResult(result=self.answer(name, args), line=f"{name} {len(self.made)}: ok", waited_s=self.waited_s)


@pytest.fixture
def calls() -> Calls:
    return Calls()


@pytest.fixture
def context(tmp_path: Path, calls: Calls) -> Iterator[PlainContext]:
    with plain_context(tmp_path) as made:
        made.services["calls"] = calls
        yield made


def run(context: PlainContext, code: str, **args: object) -> dict[str, Any]:
    return call_tool(context, "execute_code", code=code, **args)


def test_only_what_is_printed_comes_back(context: PlainContext) -> None:
    result = run(context, "x = 6 * 7\nprint('größe', x)\nx")
    assert result.pop("duration_s") > 0
    assert result == {"ok": True, "exit_code": 0, "output": "größe 42\n"}


def test_a_script_calls_tools_by_order_and_by_name(context: PlainContext, calls: Calls) -> None:
    result = run(context, "r = read_file('a.py', 3, limit=None)\nassert r['ok']\nprint(r['got'])")
    assert result["output"] == "{'path': 'a.py', 'offset': 3}\n"
    assert [made[:2] for made in calls.made] == [("read_file", {"path": "a.py", "offset": 3})]
    assert (result["calls"], result["call_count"]) == (["read_file 1: ok"], 1)


def test_tools_can_be_imported_and_one_url_is_a_list_of_one(context: PlainContext, calls: Calls) -> None:
    code = "from hermes_tools import web_extract as w\nimport hermes_tools\nw('https://a')\nhermes_tools.terminal('ls')"
    assert run(context, code)["ok"]
    assert [made[:2] for made in calls.made] == [
        ("web_extract", {"urls": ["https://a"]}),
        ("terminal", {"command": "ls"}),
    ]


ODD_CALLS = {
    "too many": ("terminal('a', 'b')", "takes at most 1 arguments: command"),
    "twice": ("read_file('a', path='b')", "several values for path"),
    "not JSON": ("terminal({1, 2})", "not JSON serializable"),
    "not offered": ("clarify('x')", "NameError: name 'clarify' is not defined"),
}


@pytest.mark.parametrize(("code", "words"), ODD_CALLS.values(), ids=ODD_CALLS)
def test_a_call_that_cannot_be_made_raises_in_the_script(
    context: PlainContext, calls: Calls, code: str, words: str
) -> None:
    result = run(context, code)
    assert not result["ok"]
    assert words in result["error"]
    assert calls.made == []


def test_the_link_answers_for_the_seven_tools_only(context: PlainContext, calls: Calls) -> None:
    code = "import hermes_tools\nlink = terminal.__closure__\n"
    code += "l = [c.cell_contents for c in link if hasattr(c.cell_contents, 'call')][0]\n"
    code += "print(l.call('clarify', {'question': 'x'})['error'])\nprint(l.call(3, [])['error'])"
    result = run(context, code)
    assert "cannot call clarify" in result["output"]
    assert "could not be read" in result["output"]
    assert calls.made == []


def test_results_travel_whole_with_any_letters(context: PlainContext, calls: Calls) -> None:
    odd = "a\n\u2028😀 \ud800 \x00 日本 " + "x" * 300_000
    calls.answer = lambda name, args: {"ok": True, "text": odd, "same": args["command"] == odd}
    code = f"t = {odd!r}\nr = terminal(t)\nprint(r['text'] == t, r['same'])"
    assert run(context, code.replace("x" * 300_000, "' + 'x' * 300000 + '"))["output"] == "True True\n"


def test_a_failure_returns_its_traceback_without_our_frames(context: PlainContext) -> None:
    result = run(context, "print('before')\ndef f():\n    return 1 / 0\nf()")
    assert (result["ok"], result["exit_code"], result["error"]) == (False, 1, "ZeroDivisionError: division by zero")
    lines = result["output"].splitlines()
    assert lines[:4] == [
        "before",
        "Traceback (most recent call last):",
        '  File "<script>", line 4, in <module>',
        "    f()",
    ]
    assert "code_runner" not in result["output"]


ENDS = {
    "exit code": ("import sys\nsys.exit(3)", 3, "The script ended with exit code 3."),
    "exit words": ("import sys\nsys.exit('no such thing')", 1, "no such thing"),
    "exit": ("raise SystemExit", 0, None),
    "input": ("input()", 1, "EOFError: EOF when reading a line"),
    "killed": ("import os\nos.kill(os.getpid(), 9)", -9, "The script ended with exit code -9."),
    "gone": ("import os\nos._exit(4)", 4, "The script ended with exit code 4."),
    "interrupt": ("raise KeyboardInterrupt", None, "KeyboardInterrupt"),
}


@pytest.mark.parametrize(("code", "exit_code", "error"), ENDS.values(), ids=ENDS)
def test_every_end_is_told(context: PlainContext, code: str, exit_code: int | None, error: str | None) -> None:
    result = run(context, code)
    assert exit_code is None or result["exit_code"] == exit_code
    assert result.get("error") == error
    assert result["ok"] is (exit_code == 0)


NOT_RUN = {
    "syntax": ("print(1\n", "no valid Python"),
    "where": ("x = 1\ny = = 2", "in line 2: y = = 2"),
    "empty": ("  \n", "is empty"),
    "long": ("#" * 100_001, "longer than 100,000"),
    "NUL": ("print('\0')", "Nothing was run"),
    "deep": ("(" * 5_000 + ")" * 5_000, "Nothing was run"),
}


@pytest.mark.parametrize(("code", "words"), NOT_RUN.values(), ids=NOT_RUN)
def test_what_cannot_run_is_refused_before_anybody_is_asked(context: PlainContext, code: str, words: str) -> None:
    tool = load_builtin_tools().get("execute_code")
    assert tool is not None
    with pytest.raises(execute_code.ToolFailure) as refused:
        tool.assess({"code": code}, context)
    assert words in refused.value.message


def test_windows_line_ends_are_read_as_line_ends(context: PlainContext) -> None:
    assert run(context, "if True:\r\n    print('''a\r\nb''')\r\n")["output"] == "a\nb\n"


def test_a_script_makes_at_most_so_many_calls(context: PlainContext, calls: Calls) -> None:
    code = f"for n in range({MAX_CALLS + 2}):\n    r = terminal(str(n))\nprint(r)"
    result = run(context, code)
    assert result["ok"]
    assert f"made its {MAX_CALLS} calls" in result["output"]
    assert len(calls.made) == result["call_count"] == MAX_CALLS
    assert len(result["calls"]) == SHOWN_CALLS + 1
    assert result["calls"][-1] == f"… and {MAX_CALLS - SHOWN_CALLS} more"


def test_long_output_is_cut_and_kept_whole_in_a_file(context: PlainContext) -> None:
    result = run(context, "for n in range(40_000): print('line', n)")
    assert result["truncated"]
    assert len(result["output"]) < 60_000
    assert result["output"].startswith("line 0\n")
    assert result["output"].endswith("line 39999\n")
    assert Path(result["log_path"]).read_text().count("\n") == 40_000


def test_output_of_any_bytes_is_text(context: PlainContext) -> None:
    result = run(context, "import sys\nprint('\\ud800')\nsys.stdout.buffer.write(b'\\xff\\x1b[2J\\x1b]0;t\\x07ok\\n')")
    assert result["output"] == "\\ud800\n\ufffdok\n"


def test_it_runs_where_the_shell_is_without_the_keys_and_without_foreign_modules(
    context: PlainContext, tmp_path: Path
) -> None:
    folder = tmp_path / "work" / "sub"
    folder.mkdir()
    for name in ("json.py", "org/python/core.py"):  # the second is what an old "copy" looks for
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("print('not the library')")
    context.env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(folder), "SHOWN": "1"}
    call_tool(context, "terminal", command="cd sub")
    code = "import copy, json, os, sys\nprint(os.getcwd(), sorted(k for k in os.environ if k != 'LC_CTYPE'))\n"
    code += "print(any('site-packages' in p or p in ('', os.getcwd()) for p in sys.path))"
    assert run(context, code)["output"] == f"{folder} ['PATH', 'PYTHONPATH', 'SHOWN']\nFalse\n"


def test_time_is_limited_and_everything_ends(context: PlainContext) -> None:
    code = (
        "import subprocess, time\np = subprocess.Popen(['sleep', '1000'])\nprint(p.pid, flush=True)\ntime.sleep(1000)"
    )
    result = run(context, code, timeout_s=1)
    assert (result["ok"], result["timed_out"]) == (False, True)
    assert result["error"] == "Ended after 1 s with all that it had started."
    assert_gone(int(result["output"]))


def test_a_persons_thinking_does_not_count(context: PlainContext, calls: Calls) -> None:
    def answer(name: str, args: Mapping[str, Any]) -> dict[str, Any]:
        time.sleep(0.6)
        return {"ok": True}

    calls.answer, calls.waited_s = answer, 0.6
    assert run(context, "for n in range(3): terminal('x')\nprint('done')", timeout_s=1.5)["output"] == "done\n"
    assert all(limit_s <= 1.5 for _, _, limit_s in calls.made)


LIVES = {
    "computing": "print('ready', flush=True)\nwhile True: pass",
    "deaf": "import signal\nsignal.signal(15, signal.SIG_IGN)\nprint('ready', flush=True)\nwhile True: pass",
    "sleeping in a session of its own": (
        "import subprocess, time\n"
        "p = subprocess.Popen(['sleep', '1000'], start_new_session=True)\n"
        "print('ready', p.pid, flush=True)\ntime.sleep(1000)"
    ),
    "writing for ever": "print('ready', flush=True)\nwhile True: print('x' * 1000)",
}


@pytest.mark.parametrize("code", LIVES.values(), ids=LIVES)
def test_an_interrupt_ends_the_script_and_its_children(context: PlainContext, code: str) -> None:
    seen = threading.Event()
    context.on_output = lambda text: seen.set() if "ready" in text or "not shown live" in text else None
    threading.Thread(target=lambda: seen.wait(20) and context.cancel.cancel(), daemon=True).start()
    result = run(context, code)
    assert (result["ok"], result["interrupted"]) == (False, True)
    words = result["output"].split()
    if len(words) == 2 and words[1].isdecimal():
        assert_gone(int(words[1]))


def test_an_interrupt_during_a_call_ends_the_script_at_once(context: PlainContext, calls: Calls) -> None:
    killed = threading.Event()

    def answer(name: str, args: Mapping[str, Any]) -> dict[str, Any]:
        pid = int(args["command"])
        threading.Thread(target=context.cancel.cancel, daemon=True).start()
        while is_alive(pid):
            time.sleep(0.005)
        killed.set()
        return {"ok": False}

    calls.answer = answer
    result = run(context, "import os\nterminal(str(os.getpid()))\nprint('after')")
    assert killed.is_set()
    assert result["interrupted"]
    assert "after" not in result["output"]


def test_what_a_script_leaves_behind_ends_with_it(context: PlainContext) -> None:
    result = run(context, "import subprocess\nprint(subprocess.Popen(['sleep', '1000']).pid)")
    assert result["ok"]
    assert_gone(int(result["output"]))


def test_a_script_ends_when_the_agent_is_killed(tmp_path: Path) -> None:
    program = f"""
import sys; sys.path[:0] = {sys.path!r}
from pathlib import Path
from support.tool_context import call_tool, plain_context
class Calls:
    signatures = {{}}
with plain_context(Path({str(tmp_path)!r})) as context:
    context.services["calls"] = Calls()
    context.on_output = lambda text: print(text, end="", flush=True)
    call_tool(context, "execute_code", code="import os, time\\nprint(os.getpid(), flush=True)\\ntime.sleep(1000)")
"""
    agent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert agent.stdout is not None
    pid = int(agent.stdout.readline())
    agent.send_signal(signal.SIGKILL)
    agent.wait()
    agent.stdout.close()
    assert_gone(pid)


def test_a_flood_of_arguments_ends_the_script(context: PlainContext, calls: Calls) -> None:
    result = run(context, "terminal('x' * 11_000_000)")
    assert "too large" in result["error"]
    assert calls.made == []


def test_the_card_shows_calls_between_the_output(context: PlainContext) -> None:
    run(context, "print('a', end='', flush=True)\nterminal('x')\nprint('b')")
    assert "".join(context.emitted) == "a\n→ terminal 1: ok\nb\n"


def test_the_card_says_what_ran_and_how_it_went(context: PlainContext) -> None:
    tool = load_builtin_tools().get("execute_code")
    assert tool is not None
    args = {"code": "print(read_file('a'))\nread_file('b')", "description": "look at two files"}
    shown = tool.display(args, None)
    assert (shown["kind"], shown["verb"], shown["target"]) == ("code", "run script", "look at two files")
    result = call_tool(context, "execute_code", **args)
    shown = tool.display(args, result)
    assert shown["summary"] == "2 calls"
    assert shown["calls"] == ["read_file 1: ok", "read_file 2: ok"]
    shown = tool.display({"code": "1/0"}, run(context, "1/0"))
    assert (shown["target"], shown["summary"]) == ("1/0", "ZeroDivisionError: division by zero")


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def assert_gone(pid: int) -> None:
    end = time.monotonic() + 10
    while is_alive(pid):
        assert time.monotonic() < end, f"{pid} goes on"
        time.sleep(0.01)
