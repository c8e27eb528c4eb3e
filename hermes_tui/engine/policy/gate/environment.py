"""Environment variables: which are harmless, which load code or change what a name runs."""

from __future__ import annotations

import fnmatch
import os
import re
from functools import lru_cache

from .facts import UNKNOWN, Issue, Level, Word, is_dynamic, shown

_HARMLESS = [
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TERM",
    "COLUMNS",
    "LINES",
    "COLORTERM",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "CI",
    "DEBUG",
    "VERBOSE",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONIOENCODING",
    "PYTHONUTF8",
    "PYTHONHASHSEED",
    "PYTHONFAULTHANDLER",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "NODE_ENV",
    "RAILS_ENV",
    "RACK_ENV",
    "APP_ENV",
    "FLASK_ENV",
    "GIT_TERMINAL_PROMPT",
    "GIT_OPTIONAL_LOCKS",
    "DEBIAN_FRONTEND",
    "HOMEBREW_NO_AUTO_UPDATE",
    "POSIXLY_CORRECT",
    "CARGO_TERM_COLOR",
    "PY_COLORS",
    "GOOS",
    "GOARCH",
    "CGO_ENABLED",
]

_DANGEROUS = {
    "loads code into programs": "LD_* DYLD_* PYTHONPATH PYTHONSTARTUP PYTHONHOME PYTHONINSPECT PYTHONBREAKPOINT "
    "PYTHONUSERBASE NODE_OPTIONS NODE_PATH PERL5LIB PERL5OPT PERL5DB PERLLIB RUBYOPT RUBYLIB GEM_PATH GEM_HOME "
    "BUNDLE_GEMFILE JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH LUA_PATH LUA_CPATH LUA_INIT PHPRC "
    "PHP_INI_SCAN_DIR GCONV_PATH OPENSSL_CONF OPENSSL_ENGINES GTK_MODULES QT_PLUGIN_PATH PYTEST_ADDOPTS "
    "PYTEST_PLUGINS ZDOTDIR",
    "names a program that others run": "GIT_* PAGER MANPAGER *_PAGER EDITOR VISUAL BROWSER SHELL LESS* SUDO_* SSH_* "
    "RUSTC* RUSTDOC* CARGO_BUILD_* CARGO_TARGET_* CARGO_HOME RSYNC_RSH SVN_SSH CVS_RSH CC CXX LD AR MAKEFLAGS "
    "GNUMAKEFLAGS MAKEFILES GOFLAGS TAR_OPTIONS GREP_OPTIONS npm_config_* NPM_CONFIG_* YARN_* PIP_* UV_* FZF_* "
    "DOCKER_* KUBECONFIG AWS_CONFIG_FILE RIPGREP_CONFIG_PATH WGETRC CURL_HOME PGSERVICEFILE PSQLRC MYSQL_HOME",
    "changes how the shell reads commands": "BASH_ENV ENV PROMPT_COMMAND PS0 PS1 PS2 PS3 PS4 SHELLOPTS BASHOPTS "
    "BASH_FUNC_* IFS CDPATH GLOBIGNORE FPATH BASH_LOADABLES_PATH BASH_XTRACEFD HISTFILE HISTCONTROL",
    "changes which files programs read": "HOME XDG_* TMPDIR PWD OLDPWD HERMES_*",
    "sends traffic elsewhere": "*_PROXY *_proxy SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE "
    "NODE_TLS_REJECT_UNAUTHORIZED NODE_EXTRA_CA_CERTS *_BASE_URL HOSTALIASES RESOLV_HOST_CONF",
}


_EVALUATED = re.compile(r"\w\[[^\]]*(?:\$\(|`)")
"""A subscript that holds a substitution: comparing such a value as a number runs it."""


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], tuple[tuple[re.Pattern[str], str], ...]]:
    def compiled(names: list[str]) -> re.Pattern[str]:
        return re.compile("|".join(fnmatch.translate(name) for name in names))

    harmless = compiled(_HARMLESS)
    return harmless, tuple((compiled(names.split()), why) for why, names in _DANGEROUS.items())


def judge_assignment(name: str, value: Word, *, lasting: bool, workspace: str = "") -> list[Issue]:
    """Judge one ``NAME=value``.

    Args:
        name: The variable; ``NAME+`` and ``NAME[1]`` are understood.
        value: Its new value.
        lasting: True for the shell itself (``A=1``, ``export A=1``), False for one program (``A=1 program``).
        workspace: Folder that must not hold programs of the search path.

    Returns:
        No issue when it is harmless.
    """
    if _EVALUATED.search(value.text):
        return [Issue(Level.DANGER, f"sets {name} to a command that arithmetic would run", "env")]
    clean = re.split(r"[\[+]", name)[0]
    harmless, dangerous = _patterns()
    if harmless.fullmatch(clean):
        return []
    if clean == "PATH":
        return [_judge_path(value, workspace)]
    for pattern, why in dangerous:
        if pattern.fullmatch(clean):
            return [Issue(Level.DANGER, f"sets {clean}, which {why}", "env")]
    if lasting:
        return []
    return [Issue(Level.UNKNOWN, f"sets {clean} for a program", "env")]


def _judge_path(value: Word, workspace: str) -> Issue:
    """A search path of absolute folders outside the workspace is usual; everything else lets names run other files."""
    for folder in value.text.split(":"):
        fixed = os.path.isabs(folder) and not is_dynamic(folder)  # noqa: PTH117
        inside = bool(workspace) and (folder + "/").startswith(workspace.rstrip("/") + "/")
        if folder != UNKNOWN and (not fixed or inside or folder.startswith(("/tmp", "/var/tmp", "/dev"))):
            return Issue(Level.DANGER, f"changes where programs are looked for: {shown(folder) or 'here'}", "env")
    return Issue(Level.UNKNOWN, "changes where programs are looked for", "env")
