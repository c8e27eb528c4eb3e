"""Settings come from defaults, two files, the environment and flags; one bad entry never costs the others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tui.engine.config.loader import LoadedSettings, load_settings
from hermes_tui.engine.config.paths import find_paths
from hermes_tui.engine.config.settings import Settings


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


def load(home: Path, config: str | bytes = "", settings: str = "", **more: object) -> LoadedSettings:
    for name, text in (("config.toml", config), ("settings.toml", settings)):
        if text:
            (home / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    env = {"HERMES_TUI_HOME": str(home), **more.pop("env", {})}  # type: ignore[dict-item]
    return load_settings(env, more.pop("flags", {}))  # type: ignore[arg-type]


def texts(loaded: LoadedSettings) -> str:
    return "\n".join(problem.text for problem in loaded.problems)


def test_without_any_file_the_defaults_hold_and_nothing_is_created(home: Path) -> None:
    loaded = load(home / "none")
    assert loaded.settings == Settings()
    assert loaded.problems == ()
    assert not (home / "none").exists()


def test_later_layers_win_and_each_value_remembers_its_origin(home: Path) -> None:
    loaded = load(
        home,
        config='model = "b"\n[agent]\nmax_turns = 5',
        settings='model = "a"\n[ui]\ntheme = "paper"\n[agent]\nmax_turns = 4',
        env={"HERMES_TUI_AGENT_MAX_TURNS": "6"},
        flags={"model": "c"},
    )
    assert (loaded.settings.model, loaded.settings.agent.max_turns, loaded.settings.ui.theme) == ("c", 6, "paper")
    assert loaded.origin_of("model") == "command line"
    assert loaded.origin_of("agent.max_turns") == "HERMES_TUI_AGENT_MAX_TURNS"
    assert loaded.origin_of("ui.theme") == "settings.toml"
    assert loaded.origin_of("ui.mouse") == "default"


def test_an_empty_variable_and_a_missing_flag_count_as_unset(home: Path) -> None:
    loaded = load(home, config='model = "x"', env={"HERMES_TUI_MODEL": "  "}, flags={"model": None})
    assert loaded.settings.model == "x"


@pytest.mark.parametrize(
    ("name", "text", "key", "value"),
    [
        ("HERMES_TUI_AGENT_MAX_TURNS", "12", "agent.max_turns", 12),
        ("HERMES_TUI_COMPRESSION_THRESHOLD", "0.7", "compression.threshold", 0.7),
        ("HERMES_TUI_UI_MOUSE", "off", "ui.mouse", False),
        ("HERMES_TUI_UI_PLAIN", "Yes", "ui.plain", True),
        ("HERMES_TUI_FALLBACK_PROVIDERS", "a/b, c/d", "fallback_providers", ("a/b", "c/d")),
        ("HERMES_TUI_APPROVALS_MODE", "strict", "approvals.mode", "strict"),
    ],
)
def test_variables_are_read_as_their_setting(home: Path, name: str, text: str, key: str, value: object) -> None:
    found: object = load(home, env={name: text}).settings
    for part in key.split("."):
        found = getattr(found, part)
    assert found == value


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ('modle = "x"', ["line 1", "unknown key modle", "did you mean model?"]),
        ('[agents]\nnotify = ["a", "b"]', ["line 2", "unknown key notify in [agents]", "did you mean [agent]?"]),
        ("\n\n[agent]\nmax_turn = 3", ["line 4", "unknown key max_turn in [agent]", "did you mean max_turns?"]),
        ('[agent]\nmax_turns = "abc"', ["line 2", "agent.max_turns", "a whole number", "'abc'"]),
        ("[agent]\nmax_turns = true", ["agent.max_turns", "a whole number"]),
        ("[agent]\nmax_turns = 0", ["agent.max_turns", "1 or more"]),
        ("[compression]\nthreshold = 3", ["compression.threshold", "0.1 to 0.95"]),
        ('[ui]\nbusy_input = "wait"', ["ui.busy_input", '"queue" | "steer" | "interrupt"']),
        ('fallback_providers = "a"', ["fallback_providers", "a list of texts"]),
        ("fallback_providers = [1]", ["fallback_providers", "a list of texts"]),
        ('agent = "x"', ["agent", "a table"]),
        ('[providers.a.models]\n"" = { context_window = 3 }', ["providers.a.models", "empty name"]),
        ("[model]\nname = 1", ["unknown key name in [model]"]),
    ],
)
def test_a_bad_entry_is_named_with_file_line_and_reason_and_the_rest_holds(
    home: Path, config: str, words: list[str]
) -> None:
    loaded = load(home, config=f"{config}\n[budget]\nmax_cost_usd = 2")
    (problem,) = loaded.problems
    assert problem.level == "warning"
    for word in ["config.toml", *words]:
        assert word in problem.text
    assert loaded.settings.budget.max_cost_usd == 2.0


def test_two_good_providers_work_beside_a_bad_one(home: Path) -> None:
    loaded = load(
        home,
        config="""
[providers.one]
base_url = "http://127.0.0.1:1/v1"
[providers.two]
base_url = 7
port = "abc"
[providers.three]
base_url = "http://127.0.0.1:3/v1"
models = { "q2.5:7b" = { context_window = 9 } }
""",
    )
    assert loaded.settings.providers["one"].base_url.endswith(":1/v1")
    assert loaded.settings.providers["three"].models["q2.5:7b"].context_window == 9
    assert "providers.two.base_url" in texts(loaded)
    assert "unknown key port in [providers.two]" in texts(loaded)


@pytest.mark.parametrize(
    ("config", "line", "words"),
    [
        ('model = "x"\nmodel = "y"\n', 2, "overwrite"),
        ("[provider", 1, ""),
        ("model:\n\tname: x\n", 1, ""),
        ('model = "x', 1, ""),
        ("a = 1\n\nb = \n", 3, ""),
    ],
)
def test_a_syntax_error_names_file_line_and_reason_and_leaves_the_file_alone(
    home: Path, config: str, line: int, words: str
) -> None:
    loaded = load(home, config=config, settings='[ui]\ntheme = "paper"')
    (problem,) = loaded.problems
    assert problem.level == "error"
    assert f"config.toml, line {line}:" in problem.text
    assert words in problem.text
    assert loaded.settings.ui.theme == "paper"
    assert (home / "config.toml").read_text() == config


@pytest.mark.parametrize(
    "config",
    [
        b'\xef\xbb\xbfmodel = "x"\n',
        'model = "x"\n'.encode("utf-16"),
        'model = "x"\n'.encode("utf-16-le"),
        'model = "x"\n'.encode("utf-16-be"),
        b'\tmodel\t=\t"x"\r\n',
        b'model = "x"',
    ],
)
def test_files_are_read_in_the_encodings_that_editors_leave(home: Path, config: bytes) -> None:
    loaded = load(home, config=config)
    assert loaded.settings.model == "x"
    assert loaded.problems == ()


def test_an_empty_file_is_fine_and_a_binary_one_is_named(home: Path) -> None:
    (home / "settings.toml").write_bytes(b"")
    loaded = load(home, config=b'a = "b"\nmodel = "\xff\xfe\xfa"')
    (problem,) = loaded.problems
    assert "config.toml, line 2: not UTF-8" in problem.text


def test_a_folder_in_the_place_of_the_file_is_named(home: Path) -> None:
    (home / "config.toml").mkdir()
    assert "config.toml" in texts(load(home))


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ({"HERMES_TUI_AGENT_MAX_TURNS": "abc"}, ["HERMES_TUI_AGENT_MAX_TURNS", "a whole number", "'abc'"]),
        ({"HERMES_TUI_UI_MOUSE": "maybe"}, ["HERMES_TUI_UI_MOUSE", "true or false"]),
        ({"HERMES_TUI_MODLE": "x"}, ["HERMES_TUI_MODLE", "did you mean HERMES_TUI_MODEL?"]),
    ],
)
def test_a_bad_variable_is_named(home: Path, env: dict[str, str], words: list[str]) -> None:
    loaded = load(home, env=env)
    for word in words:
        assert word in texts(loaded)
    assert loaded.settings == Settings()


def test_the_keys_table_may_stand_at_the_top(home: Path) -> None:
    assert load(home, config='[keys]\n"chat.send" = "ctrl+s"').settings.ui.keys == {"chat.send": "ctrl+s"}


def test_a_project_file_is_not_read_without_trust(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    (project / ".hermes").mkdir(parents=True)
    (project / ".hermes/config.toml").write_text('model = "evil/model"')
    monkeypatch.chdir(project)  # the process folder is the subject
    assert load(home).settings.model == ""


@given(st.binary(max_size=200))
def test_no_content_of_a_file_makes_loading_fail(tmp_path_factory: pytest.TempPathFactory, config: bytes) -> None:
    home = tmp_path_factory.mktemp("any")
    (home / "config.toml").write_bytes(config)
    load_settings({"HERMES_TUI_HOME": str(home)})
    assert (home / "config.toml").read_bytes() == config


_scalars = st.one_of(st.booleans(), st.integers(-5, 5), st.text("ab", max_size=3), st.lists(st.text("a", max_size=2)))
_names = st.sampled_from(
    ["model", "agent", "max_turns", "providers", "a", "models", "ui", "keys", "theme", "x", "toolsets"]
)


@given(st.recursive(_scalars, lambda inner: st.dictionaries(_names, inner, max_size=3), max_leaves=8))
def test_no_shape_of_valid_toml_makes_loading_fail(tmp_path_factory: pytest.TempPathFactory, tree: object) -> None:
    import tomli_w

    home = tmp_path_factory.mktemp("any")
    table = tree if isinstance(tree, dict) else {"model": tree}
    (home / "config.toml").write_text(tomli_w.dumps(table))
    load_settings({"HERMES_TUI_HOME": str(home)})


def test_loading_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom hermes_tui.engine.config.loader import load_settings\n"
        "load_settings({'HERMES_TUI_HOME': '/nonexistent'})\n"
        "print([name for name in ('pydantic', 'jsonschema', 'tomli_w', 'platformdirs', 'difflib', 'httpx2', 'openai',"
        " 'secrets', 'subprocess') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=False, cwd=_ROOT)
    assert done.stdout.strip() == "[]", done.stderr


_ROOT = Path(__file__).parents[3]


def test_the_paths_that_were_used_are_part_of_the_result(home: Path) -> None:
    assert load(home).paths == find_paths({"HERMES_TUI_HOME": str(home)})
