"""Package managers of systems and languages."""

from __future__ import annotations

import re

from ..facts import Call, Inner, Issue, Level, Outcome, Row
from .rows import danger, parent, safe, unknown

_ADDRESS = re.compile(r"(?:^|\+|@ ?)(?:https?|git|ssh|file)://")
_OWN_INDEX = re.compile(r"https://(?:pypi\.org|test\.pypi\.org|registry\.npmjs\.org|registry\.yarnpkg\.com)(?:/|\Z)")
_REMOVES = "removes packages"
_PUBLISHES = "publishes to others"
_PYTEST = (
    "-q|--quiet -v|--verbose -x|--exitfirst -s -l|--showlocals -k= -m= --tb= --maxfail= --lf|--last-failed "
    "--ff|--failed-first --nf --sw|--stepwise --sw-skip --co|--collect-only --durations= --durations-min= -r= "
    "--no-header --no-summary --disable-warnings --disable-pytest-warnings -n|--numprocesses= --color= "
    "--strict-markers --strict-config --strict --runxfail --fixtures --markers --cache-show? --show-capture= "
    "--capture= --timeout= --deselect= --ignore= --ignore-glob= --no-cov --full-trace --setup-show --setup-plan "
    "--verbosity= --dist= --reruns= --randomly-seed= -W= --pyargs --import-mode= --snapshot-update:W --cov?:W "
    "--cov-report?:W --junitxml|--junit-xml=:w -p=:u -c|--config-file=:u -o|--override-ini=:u --rootdir=:u "
    "--confcutdir=:u --basetemp=:d --pastebin=:n --pdb:u --pdbcls=:u --trace:u --debug?:w --log-file=:w "
    "--cache-clear:W --looponfail:u --rsyncdir=:u -f"
)
_PYTEST_DANGERS = {"--basetemp": "empties that folder first", "--pastebin": "sends the output to a public site"}


def pytest_row(name: str) -> Row:
    """Return the row of pytest under one of its names."""
    return unknown(name, "r*", _PYTEST, reason="runs the tests of the project", dangers=_PYTEST_DANGERS)[0]


def check_runner(call: Call) -> Outcome:
    """``npx PROGRAM``, ``uv run PROGRAM``, ``npm exec -c TEXT``: what they run is judged too."""
    words = call.args.operands
    if words[:1] and words[0].text in ("--", "run"):  # ``npm exec -- PROGRAM``, ``uv tool run PROGRAM``
        words = words[1:]
    inner = [Inner(script=text) for text in call.args.values("-c")]
    return Outcome([], [*inner, Inner(words=words)] if words else inner, operands=[])


def check_sources(call: Call) -> Outcome:
    """``pip install URL``: code from an address, or from another index, is run without a look at it."""
    words = [*call.args.operands, *call.args.values("-e", "-r", "-c")]
    if any(_ADDRESS.search(word.text) for word in words) or any(
        not _OWN_INDEX.match(value.text) for value in call.args.values("-i", "--extra-index-url", "--registry")
    ):
        return Outcome([Issue(Level.DANGER, "installs code from an address", "text")])
    return Outcome()


def check_workspace(call: Call) -> Outcome:
    """``yarn workspace NAME COMMAND``."""
    return Outcome([], [Inner(words=(call.command.words[0], *call.args.operands[1:]))], operands=[])


def check_script(call: Call) -> Outcome:
    """``npm run NAME``: its options count behind the name too."""
    if any(word.text.startswith("--script-shell") for word in call.command.words):
        return Outcome([Issue(Level.DANGER, "names the shell of scripts", "option", "--script-shell")])
    return Outcome()


def check_npm_config(call: Call) -> Outcome:
    """``npm config set``: a few keys name programs or other places."""
    words = " ".join(word.text for word in call.args.operands)
    if re.match(r"(?:set |edit)", words) and re.search(
        r"shell|editor|viewer|browser|\bgit\b|registry|proxy|prefix|node-options|ignore-scripts|edit", words
    ):
        return Outcome([Issue(Level.DANGER, "changes the configuration of npm, which may name programs")])
    return Outcome()


def _system(name: str, reads: str, changes: str, removes: str, options: str = "") -> Row:
    return parent(
        name,
        f"-y|--yes -q|--quiet -v -n|--dry-run|--simulate --no-install-recommends {options}",
        safe(reads, "-*", "-a -v -i -l --installed --upgradable --all-versions -n -q --names-only --json"),
        unknown(changes, "-*", "-y --no-install-recommends --cask -g --no-cache", remember=False),
        danger(removes, _REMOVES),
        remember=False,
    )


_PIP = parent(
    "pip",
    "-q|--quiet -v|--verbose --no-input --disable-pip-version-check --no-color --isolated -i=:u --proxy=:u "
    "--cache-dir= --python=:u --require-virtualenv --no-cache-dir",
    safe(
        "list show freeze check inspect debug help index_versions",
        "-*",
        "--outdated -o --format= -f|--files --local -l --user --not-required",
    ),
    unknown(
        "install download wheel",
        "r*",
        "-U|--upgrade -e|--editable= -r|--requirement=:r -c|--constraint=:r --no-deps --pre --user "
        "--force-reinstall --no-cache-dir --prefer-binary -t=:w --target=:w --break-system-packages:u "
        "-i|--index-url=:u --extra-index-url=:u --find-links=:u -f=:u --trusted-host=:u --no-build-isolation "
        "--only-binary= --no-binary= -d=:w -w=:w --dry-run --root=:w --prefix=:w -q",
        reason="installs packages",
        check=check_sources,
        remember=False,
    ),
    danger("uninstall", _REMOVES, "-*", "-y -r="),
    unknown("cache config hash search completion index", remember=False),
    remember=False,
)
_NPM_INSTALL = (
    "-D|--save-dev -g|--global:u -S|--save --save-exact -E --no-save --legacy-peer-deps --force:u --production "
    "--omit= --include= --no-audit --no-fund --ignore-scripts --prefer-offline --frozen-lockfile -w= -P -O --silent "
    "--registry=:u --prefix=:u --no-optional"
)


def _node_manager(name: str) -> Row:
    return parent(
        name,
        "-s|--silent -C=:u --prefix=:u -w|--workspace= --workspaces --filter= -F= -r|--recursive --script-shell=:x",
        safe(
            "ls list view info outdated why explain audit prefix root bin fund doctor query licenses",
            "-*",
            "--json --depth= -g --all --prod --dev --long --audit-level=",
        ),
        unknown("test t tst", "-*", "--silent -s --if-present -w=", reason="runs a script of the project"),
        unknown(
            "install i ci add update upgrade up dedupe link import",
            "-*",
            _NPM_INSTALL,
            reason="installs packages",
            check=check_sources,
            remember=False,
        ),
        unknown(
            "exec x dlx",
            "-*",
            "-c|--call= -p|--package= -y|--yes --silent -s --no --",
            stops=True,
            check=check_runner,
            reason="runs a package",
            remember=False,
        ),
        unknown("workspace", stops=True, check=check_workspace, remember=False),
        unknown("create", "-*", "-y|--yes --silent", stops=True, reason="downloads and runs a package", remember=False),
        unknown(
            "run run-script start build dev lint init rebuild",
            "-*",
            "--silent -s --if-present",
            stops=True,
            check=check_script,
            reason="runs a script of the project",
            remember=False,
        ),
        danger("uninstall remove rm un unlink prune", _REMOVES),
        danger("publish unpublish deprecate dist-tag owner access token login logout adduser team hook", _PUBLISHES),
        unknown("config", check=check_npm_config, remember=False),
        unknown("set cache store pkg", remember=False),
        unknown("pack version", remember=False),
        unknown("*", remember=False),
        dangers={"--script-shell": "names the shell of scripts"},
    )


ROWS = [
    pytest_row("pytest"),
    pytest_row("py.test"),
    _system(
        "apt",
        "list search show policy depends rdepends",
        "install update upgrade full-upgrade dist-upgrade download",
        "remove purge autoremove autopurge clean edit-sources",
    ),
    _system(
        "apt-get",
        "indextargets",
        "install update upgrade dist-upgrade download source build-dep check",
        "remove purge autoremove clean autoclean",
    ),
    _system(
        "dnf",
        "list search info repolist provides",
        "install update upgrade check-update makecache",
        "remove erase autoremove clean",
    ),
    _system("yum", "list search info", "install update upgrade", "remove erase autoremove clean"),
    _system(
        "brew",
        "list ls search info outdated deps uses leaves doctor config",
        "install update upgrade tap link unlink services",
        "uninstall remove rm cleanup autoremove untap",
    ),
    _system("apk", "info search list", "add update upgrade fetch", "del"),
    _system("zypper", "search info list-updates", "install update refresh", "remove"),
    _system("snap", "list find info", "install refresh", "remove"),
    _system("flatpak", "list search info", "install update", "uninstall remove"),
    _system("port", "installed search info", "install selfupdate", "uninstall"),
    _system("choco", "list search", "install upgrade", "uninstall"),
    *safe("apt-cache dpkg-query rpmquery", "-*", "-W -l -L -s -S -f= -a"),
    *unknown(
        "dpkg rpm",
        "-*",
        "-l|--list -L|--listfiles -s|--status -S|--search -q -a -i:u -r|--remove:d -P|--purge:d -e|--erase:d -U:u "
        "--configure:u",
        dangers={"-r": _REMOVES, "-P": _REMOVES, "-e": _REMOVES},
        remember=False,
    ),
    *unknown(
        "pacman yay paru",
        "-*",
        "-Q:u -S:u -Ss -Si -Qi -Ql -R:d -Rs:d -Rns:d -Syu:u -U:u",
        single=True,
        remember=False,
        dangers={"-R": _REMOVES, "-Rs": _REMOVES, "-Rns": _REMOVES},
    ),
    *unknown("emerge nix nix-env nix-shell guix", remember=False),
    _PIP,
    parent(
        "uv",
        "-q -v --no-cache -n --offline --project=:u --directory=:u",
        unknown("sync lock add venv init export build python", remember=False),
        safe("tree version"),
        unknown(
            "run tool",
            "-*",
            "--with= --with-requirements=:r --python= -p= --extra= --group= --no-sync --frozen --locked --isolated "
            "-q --no-project --all-extras --env-file=:r --from= -m|--module=:u -s|--script=:u --active --dev --no-dev",
            stops=True,
            check=check_runner,
            remember=False,
            reason="runs code",
        ),
        danger("remove", _REMOVES),
        danger("publish", _PUBLISHES),
        [Row("pip", remember=False, subs=_PIP.subs)],
        unknown("*", remember=False),
    ),
    parent(
        "poetry",
        "-q -v -n --no-interaction",
        safe("show check version env"),
        unknown("install update add lock build", remember=False),
        unknown("run", stops=True, check=check_runner, remember=False),
        danger("remove", _REMOVES),
        danger("publish", _PUBLISHES),
    ),
    parent(
        "conda",
        "-q -y",
        safe("list info search"),
        unknown("install create update env activate", remember=False),
        unknown(
            "run",
            "-*",
            "-n|--name= -p|--prefix= --no-capture-output --live-stream --cwd=",
            stops=True,
            check=check_runner,
            remember=False,
        ),
        danger("remove uninstall clean", _REMOVES),
    ),
    *[
        parent(
            name,
            "-q -v -e= --env=",
            unknown("run", "-*", "--spec= --python= -s", stops=True, check=check_runner, remember=False),
            danger("publish", _PUBLISHES),
            danger("uninstall remove", _REMOVES),
            unknown("*", remember=False),
            remember=False,
        )
        for name in ("pipx", "pipenv", "pdm", "rye", "hatch")
    ],
    *unknown("tox nox mamba micromamba pre-commit", remember=False),
    *[_node_manager(name) for name in ("npm", "pnpm", "yarn")],
    *unknown(
        "npx bunx pnpx uvx corepack tsx ts-node",
        "-*",
        "-y|--yes -c|--call= -p|--package= --no-install -q --with= --from= --python= --bun",
        stops=True,
        check=check_runner,
        remember=False,
        reason="downloads and runs a package",
    ),
    *unknown(
        "tsc eslint prettier vitest jest mocha biome oxlint next vite webpack rollup esbuild turbo nx stylelint", "-*"
    ),
    *unknown("ruff black isort flake8 pylint mypy pyright ty bandit autopep8 yapf djlint", "-*"),
    parent(
        "gem",
        "",
        safe("list info search which environment"),
        unknown("install update build", remember=False),
        danger("uninstall cleanup", _REMOVES),
        danger("push yank owner signin", _PUBLISHES),
    ),
    parent(
        "bundle",
        "",
        safe("list show info check outdated"),
        unknown("install update add lock init", remember=False),
        unknown("exec", stops=True, check=check_runner, remember=False),
        danger("clean remove", _REMOVES),
    ),
    parent(
        "composer",
        "",
        safe("show info outdated validate"),
        unknown("install update require", remember=False),
        danger("remove", _REMOVES),
    ),
    *danger("twine", _PUBLISHES),
    *unknown("opam cpan cpanm luarocks vcpkg conan stow asdf mise nvm fnm volta pyenv rbenv sdk", remember=False),
]
