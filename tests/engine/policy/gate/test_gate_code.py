"""What a script of execute_code may do without a question, and what it is asked about."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from hermes_tui.engine.config.settings import ApprovalSettings
from hermes_tui.engine.policy.gate.code import MODULES, read_script
from hermes_tui.engine.policy.gate.gate import ShellGate
from hermes_tui.engine.policy.gate.verdict import Verdict

HARMLESS = {
    "calls and prints": 'for hit in search_files("x")["matches"]:\n    print(hit)',
    "functions and comprehensions": "def f(x, *, y=1):\n    return [a for a in x if a > y]\nprint(sum(f([1, 2])))",
    "json and re": "import json, re\nprint(json.dumps(re.findall(r'\\d', 'a1')), json.loads('1'))",
    "renamed modules": "import json as j\nfrom re import sub as replace\nprint(j.loads(replace('a', '1', 'a')))",
    "dotted modules": "import os.path, urllib.parse\nprint(os.path.join('a', urllib.parse.quote('b')))",
    "a part of os": "import os\nprint(os.path.basename('a/b'))",
    "from a package": "from os import path\nprint(path.join('a', 'b'))",
    "classes of a module": "import datetime\nprint(datetime.datetime.now().isoformat())",
    "several": "from collections import Counter, defaultdict\nd = defaultdict(list)\nd['x'].append(1)",
    "errors": "try:\n    int('x')\nexcept (ValueError, OSError) as e:\n    print(type(e).__name__)\nfinally:\n    pass",
    "name of a class": "print(e.__class__.__name__)",
    "main": 'if __name__ == "__main__":\n    print(1)',
    "formats": "x = 3.14159\nprint(f'{x:>{10}.2f} {x!r}', '{0:,}'.format(10))",
    "match": "match [1, {'a': 2}]:\n    case [1, {'a': int_}]:\n        print(int_)\n    case _:\n        pass",
    "walrus, lambda, star": "if (n := len([1])) > 0:\n    print(*map(lambda a: a + n, [1, 2]), sep='')",
    "generators": "def g():\n    yield 1\n    yield from [2]\nprint(sorted(g(), key=lambda x: -x))",
    "exit": "import sys\nsys.exit('nothing found')",
    "sleep": "import time\ntime.sleep(0.1)",
    "memory files": "import io, csv\nprint(list(csv.reader(io.StringIO('a,b'))))",
    "the module": "from hermes_tools import read_file as r\nimport hermes_tools\nr('a'); hermes_tools.terminal('ls')",
    "future": "from __future__ import annotations\nx: 'anything at all' = 1",
}


@pytest.mark.parametrize("code", HARMLESS.values(), ids=HARMLESS)
def test_computing_and_calling_tools_is_harmless(code: str) -> None:
    assert read_script(code).findings == ()


REACHING = {
    "os": ("import os\nos.system('x')", "uses os.system"),
    "os by a part": ("import os.path\nos.remove('x')", "uses os.remove"),
    "os by from": ("from os import system", "imports system from os"),
    "os by another name": ("import os as o\no.popen('x')", "uses os.popen"),
    "subprocess": ("import subprocess", "imports subprocess"),
    "shutil": ("from shutil import rmtree", "imports rmtree from shutil"),
    "socket": ("import socket", "imports socket"),
    "ctypes": ("import ctypes", "imports ctypes"),
    "pickle": ("import pickle", "imports pickle"),
    "importlib": ("from importlib import import_module", "imports import_module from importlib"),
    "pathlib": ("from pathlib import Path", "imports Path from pathlib"),
    "a project's module": ("import mypackage", "imports mypackage"),
    "star": ("from json import *", "imports * from json"),
    "relative": ("from . import x", "imports x from ."),
    "request": ("import urllib.parse\nurllib.request.urlopen('x')", "uses urllib.request"),
    "open": ("open('x', 'w')", "uses open"),
    "open by another name": ("f = open\nf('x')", "uses open"),
    "open in a list": ("[open][0]('x')", "uses open"),
    "a builtin that is shadowed somewhere": ("def f():\n    open = print\nopen('x')", "uses open"),
    "wide letters": ("ｏｐｅｎ('x')", "uses open"),
    "exec": ("exec('1')", "uses exec"),
    "eval": ("eval('1')", "uses eval"),
    "import function": ("__import__('os')", "uses __import__"),
    "getattr": ("getattr(1, 'real')", "uses getattr"),
    "globals": ("globals()['x']", "uses globals"),
    "builtins": ("__builtins__['open']('x')", "uses __builtins__"),
    "input": ("input()", "uses input"),
    "classes of an object": ("().__class__.__base__.__subclasses__()", "uses .__subclasses__"),
    "classes of an object, one step": ("x = ().__class__", "uses .__class__"),
    "mro": ("print([].mro())", "uses .mro"),
    "globals of a function": ("def f(): pass\nf.__globals__['x']", "uses .__globals__"),
    "frame of a generator": ("(x for x in []).gi_frame.f_back", "uses .f_back"),
    "frame of an error": ("e.__traceback__.tb_frame", "uses .tb_frame"),
    "module by the error of a format": (
        "try:\n    '{0.__globals__[os].x}'.format(read_file)\nexcept AttributeError as e:\n    e.obj.execl('x', 'x')",
        "uses .obj",
    ),
    "module of a module": ("import json\njson.codecs.open('x')", "uses json.codecs"),
    "module of a module, private": ("import random\nrandom._os.system('x')", "uses random._os"),
    "module handed around": ("import json\nm = json\nm.codecs", "hands the module json around"),
    "module in a call": ("import json\nprint(json)", "hands the module json around"),
    "module by argument": ("import json\ndef f(m): return m.codecs\nf(json)", "hands the module json around"),
    "module under two names": ("import json as x\nimport re as x", "gives the name x to two modules"),
    "module as builtins": ("import json as __builtins__\ndef f(): return codecs", "uses __builtins__"),
    "changing a module": ("import json\njson.loads = 1", "changes json.loads"),
    "changing a class of a module": (
        "import collections\ncollections.Counter.update = 1",
        "changes collections.Counter",
    ),
    "changing a class": ("from collections import Counter\nCounter.update = 1", "changes .update"),
    "deleting an attribute": ("del x.y", "changes .y"),
    "formatter": ("import string\nstring.Formatter()", "uses string.Formatter"),
    "attrgetter": ("from operator import attrgetter", "imports attrgetter from operator"),
    "methodcaller": ("import operator\noperator.methodcaller", "uses operator.methodcaller"),
    "wraps": ("from functools import update_wrapper", "imports update_wrapper from functools"),
    "singledispatch evaluates annotations": ("from functools import singledispatch", "imports singledispatch"),
    "type hints are evaluated": ("from typing import get_type_hints", "imports get_type_hints"),
    "type makes classes": ("type('X', (), {})", "uses type"),
    "type by another name": ("t = type", "uses type"),
    "type of type": ("type(type(1))('X', (), {})", "uses type"),
    "class": ("class A:\n    pass", "defines a class"),
    "class patterns read attributes": ("match 1:\n    case int(real=r):\n        pass", "takes objects apart by class"),
    "decorator": ("@exec\ndef f(): pass", "uses exec"),
    "default of an argument": ("def f(x=open): pass", "uses open"),
    "annotation": ("x: open('x') = 1", "uses open"),
    "in a format": ("f'{open(1)}'", "uses open"),
    "in the width of a format": ("f'{1:{open(1)}}'", "uses open"),
    "in a lambda": ("lambda: open(1)", "uses open"),
    "async": ("async def f():\n    await x", "uses AsyncFunctionDef"),
    "global dunder": ("def f():\n    global __builtins__\n    __builtins__ = 1", "uses __builtins__"),
    "function named as a hook": ("def __getattr__(x): pass", "uses __getattr__"),
    "argument named so": ("f(__class__=1)", "uses __class__"),
    "capture named so": ("match 1:\n    case __builtins__:\n        pass", "uses __builtins__"),
    "deleted": ("del __builtins__", "uses __builtins__"),
    "no Python": ("this is no python", "cannot be read safely"),
    "deep": ("(" * 5_000 + ")" * 5_000, "cannot be read safely"),
    "NUL": ("print(1)\0", "cannot be read safely"),
}


@pytest.mark.parametrize(("code", "words"), REACHING.values(), ids=REACHING)
def test_whatever_reaches_further_is_found(code: str, words: str) -> None:
    facts = read_script(code)
    assert any(finding.reason.startswith(words) for finding in facts.findings), facts.findings


def test_findings_name_their_place_also_behind_wide_letters_and_tabs() -> None:
    code = 'x = "größe 日本"; open("y")\r\nif x:\n\texec("1")'
    places = [code[finding.start : finding.end] for finding in read_script(code).findings]
    assert places == ["open", "exec"]


@pytest.mark.parametrize(("module", "names"), MODULES.items(), ids=list(MODULES))
def test_no_allowed_name_is_a_module_or_takes_texts_to_run(module: str, names: frozenset[str]) -> None:
    """A name that holds a module would lead everywhere."""
    if module == "hermes_tools":
        return
    __import__(module)
    for name in names:
        value = getattr(sys.modules[module], name, None)
        assert not isinstance(value, ModuleType)
        assert value not in (eval, exec, compile, open, getattr, __import__)


def judge(code: str, tmp_path: Path, mode: str = "ask", **settings: tuple[str, ...]) -> Verdict:
    gate = ShellGate(ApprovalSettings(mode=mode, **settings), home=tmp_path)  # type: ignore[arg-type]
    return gate.judge_code(code, cwd=str(tmp_path), workspace=str(tmp_path))


WRITES = 'write_file("a", "b")'
OPENS = 'open("a", "w")'
READS = 'print(read_file("a"))'
VERDICTS = [
    ("ask", READS, "allow"),
    ("ask", WRITES, "allow"),
    ("ask", OPENS, "ask"),
    ("smart", READS, "allow"),
    ("smart", OPENS, "ask"),
    ("strict", READS, "ask"),
    ("strict", OPENS, "ask"),
    ("plan", READS, "allow"),
    ("plan", 'web_search("x"); web_extract(["y"]); search_files("z")', "allow"),
    ("plan", WRITES, "plan"),
    ("plan", 'terminal("ls")', "plan"),
    ("plan", 'f = patch\nf("a", "b", "c")', "plan"),
    ("plan", OPENS, "plan"),
    ("off", READS, "allow"),
    ("off", OPENS, "allow"),
]


@pytest.mark.parametrize(("mode", "code", "verdict"), VERDICTS)
def test_each_mode_has_its_answer(mode: str, code: str, verdict: str, tmp_path: Path) -> None:
    found = judge(code, tmp_path, mode)
    assert found.verdict == verdict
    assert not found.always
    assert (verdict == "allow") != bool(found.reasons)


@pytest.mark.parametrize("mode", ["ask", "strict", "smart", "plan", "off"])
def test_a_command_that_never_runs_is_seen_in_a_script(mode: str, tmp_path: Path) -> None:
    for code in ("import os\nos.system('rm -rf /')", "import subprocess as s\ns.run(['rm', '-rf', '/'], check=True)"):
        assert judge(code, tmp_path, mode).verdict == "never"


def test_deny_rules_hold_for_commands_that_stand_in_a_script(tmp_path: Path) -> None:
    found = judge("from subprocess import run\nrun('git push', shell=True)", tmp_path, "off", deny=("git push",))
    assert found.verdict == "deny"


def test_no_allow_rule_covers_a_script(tmp_path: Path) -> None:
    assert judge("import os\nos.system('ls')", tmp_path, allow=("ls", "python")).verdict == "ask"


def test_hidden_characters_ask_a_person(tmp_path: Path) -> None:
    found = judge("x = 'a\u202eb'", tmp_path)
    assert found.verdict == "ask"
    assert found.needs_person


def test_the_parts_mark_what_is_asked_about(tmp_path: Path) -> None:
    code = "import os\nprint(1)\nos.remove('x')"
    (part,) = judge(code, tmp_path).parts
    assert (code[part.start : part.end], part.danger_class, part.reason) == ("os.remove", "danger", "uses os.remove")


def test_harmless_scripts_open_run_and_send_nothing(tmp_path: Path) -> None:
    """Each runs under Python's own audit of what a program does; only the library's own files are read."""
    program = """
import json, sys
codes, seen = json.load(sys.stdin), []
def watch(event, args):
    kind = event.partition(".")[0]
    reads = event == "open" and (args[1] is None or not set(str(args[1])) & set("wax+"))
    if kind in ("os", "subprocess", "socket", "shutil", "ctypes", "pty", "urllib") or event == "open" and not reads:
        seen.append([event, str(args)])
on = False
sys.addaudithook(lambda event, args: watch(event, args) if on else None)
class Results(dict):
    __missing__ = lambda self, key: []
tool = lambda *args, **named: Results(ok=True)
names = {name: tool for name in ("search_files", "read_file", "terminal")}
module = type(sys)("hermes_tools")
vars(module).update(names)
sys.modules["hermes_tools"] = module
for code in codes:
    on = True
    try:
        exec(compile(code, "<script>", "exec"), {"__name__": "__main__", **names})
    except (NameError, SystemExit):
        pass
    on = False
print(json.dumps(seen), file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program],
        input=json.dumps(list(HARMLESS.values())),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    seen = [event for event in json.loads(done.stderr) if event[0] not in ("os.listdir", "os.scandir")]
    assert seen == []
