"""Random texts, run by a real bash, run nothing that the gate did not list."""

from __future__ import annotations

import shutil
import sys

import pytest
from support.gate_fuzz import Arena

pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or shutil.which("bash") is None, reason="compares with a real bash"
)

ONCE_MISSED = [
    "mka n1 | bash <<'E'\nmkb n2\nE\n",
    "( mka n1 ) # \\\nmkb n2",
    "mka n1 '#' # \\\nmkb n2",
    "mka n1 | cat <<E\n$(mkb n2)\nE\n",
    "> out.t\\\nxta mka n1",
    "env A,=1 mka n1",
    "env =1 mka n1",
    "mka n1$((1+2)) x",
    "bash <<'E'}\nmka n1\nE\n",
    "$'\\x{6dka' n1",
    ": $(($('t'\na=(\"\"''\\'''';'$(t<<'E\n$'\\x6dkc'\nE\n)))+1))",
    'bash <<E\neval \'mka n1 "${X:-"y"}"; mkb n2\'\nE\n',
    "bash <<E\nm\\\\ka n1\nE\n",
    "{mkb,n0,k};\ncoproc NAME { mkb n32; }; wait",
    "eval 'cd sub'; mka n1",
    "trap 'mkc n1' 0; cd sub; mka n2",
    "cd -P ../nowhere/..; mka n1",
    "cd sub && mka n1 > out.txt",
    "pushd sub; mka n1; popd; mka n2",
    "sh -c 'pushd sub; mka n1'",
    "cd >sub; mka n1 > out.txt",
    "coproc NAME { true\n{\\mkc,n0,k}\n}; wait",
    "case x in *) cd sub & mka n1; wait;; esac",
    "if true; then cd sub & mka n1; wait; fi",
    "f() { cd sub; }; f; mka n1",
    "{ cd sub; } > out.txt; mka n1",
    "bash -Oa extglob -c 'mka n1'",
    "eval 'c\\d sub'; mka n1",
    "x=cd; eval '$x sub'; mka n1",
    "eval '{cd,sub}'; mka n1",
    "env -C nowhere -C sub mka n1",
    "bash -oOc pipefail extglob 'mka n1'",
    "cat <<E\n$\\\n(mka n1)\nE",
    "cat <<E\n${x:-$\\\n(mka n1)}\nE",
]


@pytest.fixture
def arena(tmp_path):
    return Arena(tmp_path)


def test_nothing_runs_unseen(arena):
    misses = [miss for seed in range(150) if (miss := arena.check(seed))]
    assert not misses


@pytest.mark.parametrize("text", ONCE_MISSED)
def test_what_once_ran_unseen_is_seen(arena, text):
    assert arena.check_text(text) is None


def test_the_comparison_notices_an_unlisted_program(arena):
    ran = arena.run("mka n1; cd sub && mkb n2")
    assert [line for line, _ in ran] == ["mka n1", "mkb n2"]
    assert ran[1][1] == f"{ran[0][1]}/sub"
