"""API keys are found in a fixed order, cleaned, stored privately, and never shown."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from hermes_tui.engine.config.paths import Paths, find_paths
from hermes_tui.engine.config.secrets import FoundKey, Keys, clean, redact, save_api_key
from hermes_tui.engine.config.settings import ProviderSettings
from hermes_tui.engine.types.errors import ConfigError


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return find_paths({"HERMES_TUI_HOME": str(tmp_path)})


@pytest.mark.parametrize(
    "raw",
    [
        "sk-abc",
        " sk-abc\n",
        "“sk-abc”",
        "'sk-abc'",
        '"sk-abc"',
        "sk-abc\u200b",
        "\ufeffsk-abc",
        "Bearer sk-abc",
        "sk-\u200babc",
    ],
)
def test_what_copying_adds_is_removed(raw: str) -> None:
    assert clean(raw, "KEY") == "sk-abc"


@pytest.mark.parametrize("raw", ["", "  ", "\n", '""', "\u200b"])
def test_an_empty_key_counts_as_none(raw: str) -> None:
    assert clean(raw, "KEY") == ""


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("s\u043a-secret", ["MY_KEY", "position 2", "CYRILLIC SMALL LETTER KA"]),
        ("sk-se cret", ["MY_KEY", "position 6", "SPACE"]),
        ("sk\nsecret", ["MY_KEY", "position 3"]),
        ("${OPENAI_API_KEY}", ["MY_KEY", "placeholder"]),
        ("$OPENAI_API_KEY", ["MY_KEY", "placeholder"]),
        ("<your key>", ["MY_KEY", "placeholder"]),
    ],
)
def test_a_character_that_no_key_has_is_named_by_position_without_the_key(raw: str, words: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        clean(raw, "MY_KEY")
    for word in words:
        assert word in caught.value.message
    assert "secret" not in str(caught.value)


def test_the_order_is_config_then_credentials_then_environment_then_command(paths: Paths) -> None:
    env = {"NAMED": "from-named", "USUAL": "from-usual"}
    command = (sys.executable, "-c", "print('from-command')")
    full = ProviderSettings(api_key="from-config", api_key_env="NAMED", api_key_command=command)
    save_api_key(paths, "p", "from-file")
    keys = Keys(env, paths)

    def found(settings: ProviderSettings, provider: str = "p") -> tuple[str, str]:
        key = keys.find(provider, settings, ("USUAL",))
        assert key is not None
        return key.value, key.source

    assert found(full) == ("from-config", "config.toml")
    assert found(ProviderSettings(api_key_env="NAMED")) == ("from-file", "credentials file")
    assert found(ProviderSettings(api_key_env="NAMED"), "q") == ("from-named", "NAMED")
    assert found(ProviderSettings(), "q") == ("from-usual", "USUAL")
    assert Keys({}, paths).find("q", ProviderSettings(api_key_command=command)) is not None
    assert Keys({"USUAL": " "}, paths).find("q", ProviderSettings(), ("USUAL",)) is None


def test_a_command_runs_once_and_again_after_its_key_was_refused(paths: Paths, tmp_path: Path) -> None:
    log = tmp_path / "runs"
    code = f"print('k1'); open({str(log)!r}, 'a').write('x')"
    settings = ProviderSettings(api_key_command=(sys.executable, "-c", code))
    keys = Keys({}, paths)
    keys.find("p", settings)
    keys.find("p", settings)
    assert log.read_text() == "x"
    keys.forget("p")
    keys.find("p", settings)
    assert log.read_text() == "xx"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("/nonexistent/pass", "show"), ["/nonexistent/pass", "cannot run"]),
        ((sys.executable, "-c", "import sys; sys.exit('vault is locked')"), ["exit code 1", "vault is locked"]),
    ],
)
def test_a_failing_command_is_named(paths: Paths, command: tuple[str, ...], words: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        Keys({}, paths).find("p", ProviderSettings(api_key_command=command))
    for word in words:
        assert word in str(caught.value)


def test_stored_keys_are_private_cleaned_and_removable(paths: Paths) -> None:
    file = Path(save_api_key(paths, "openai", " sk-1\n"))
    save_api_key(paths, "groq", "gsk-2")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    keys = Keys({}, paths)
    found = keys.find("openai", ProviderSettings())
    assert found is not None and found.value == "sk-1"
    assert "sk-1" not in repr(found)
    save_api_key(paths, "openai", "")
    assert keys.find("openai", ProviderSettings()) is None
    assert keys.find("groq", ProviderSettings()) is not None


class Ring:
    """Stands in for the package ``keyring``: a test machine has no unlocked keyring to write to."""

    priority = 5.0

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.asked = 0
        self.is_locked = False

    def get_keyring(self) -> Ring:
        return self

    def set_password(self, service: str, user: str, password: str) -> None:
        self._open()
        self.kept[service, user] = password

    def get_password(self, service: str, user: str) -> str | None:
        self._open()
        self.asked += 1
        return self.kept.get((service, user))

    def delete_password(self, service: str, user: str) -> None:
        del self.kept[service, user]

    def _open(self) -> None:
        if self.is_locked:
            raise RuntimeError("it is locked")


@pytest.fixture
def ring(monkeypatch: pytest.MonkeyPatch) -> Ring:
    made = Ring()
    monkeypatch.setitem(sys.modules, "keyring", made)  # type: ignore[arg-type]
    return made


def test_a_keyring_takes_the_key_and_the_file_only_says_so(paths: Paths, ring: Ring) -> None:
    assert save_api_key(paths, "openai", " sk-1 ") == "the system's keyring"
    assert ring.kept == {("hermes-tui", "openai"): "sk-1"}
    assert "sk-1" not in paths.credentials_file.read_text()
    keys = Keys({"OPENAI_API_KEY": "sk-env"}, paths)
    for _ in range(2):
        assert keys.find("openai", ProviderSettings(), ["OPENAI_API_KEY"]) == FoundKey("sk-1", "keyring")
    assert ring.asked == 1, "the answer is kept"
    ring.kept["hermes-tui", "openai"] = "sk-2"
    keys.forget("openai")
    assert keys.find("openai", ProviderSettings()) == FoundKey("sk-2", "keyring")
    save_api_key(paths, "openai", "")
    assert not ring.kept and Keys({}, paths).find("openai", ProviderSettings()) is None


def test_a_keyring_is_not_asked_for_keys_that_it_was_not_given(paths: Paths, ring: Ring) -> None:
    assert Keys({"K": "sk-env"}, paths).find("p", ProviderSettings(api_key_env="K")) == FoundKey("sk-env", "K")
    assert ring.asked == 0


@pytest.mark.parametrize(("priority", "is_locked"), [(0.5, False), (5.0, True)])
def test_an_unsafe_or_locked_keyring_is_passed_over_for_the_file(
    paths: Paths, ring: Ring, priority: float, is_locked: bool
) -> None:
    ring.priority, ring.is_locked = priority, is_locked
    assert save_api_key(paths, "p", "sk-1") == str(paths.credentials_file)
    assert not ring.kept and Keys({}, paths).find("p", ProviderSettings()) == FoundKey("sk-1", "credentials file")


def test_a_key_that_the_keyring_withholds_is_named_with_what_to_do(paths: Paths, ring: Ring) -> None:
    save_api_key(paths, "p", "sk-1")
    ring.is_locked = True
    with pytest.raises(ConfigError, match="does not give it: it is locked") as caught:
        Keys({}, paths).find("p", ProviderSettings())
    assert "/setup" in str(caught.value.hint)
    ring.is_locked = False
    ring.kept.clear()
    with pytest.raises(ConfigError, match="is gone from"):
        Keys({}, paths).find("p", ProviderSettings())


def test_keys_disappear_whole_from_texts_longest_first() -> None:
    text = "key sk-test-SECRET123 and sk-test in a line"
    assert redact(text, ["sk-test", "sk-test-SECRET123", ""]) == "key [redacted:key] and [redacted:key] in a line"


def test_several_keys_may_stand_in_one_place() -> None:
    assert clean(' "sk-a, sk-b,,sk-c" ', "x") == "sk-a,sk-b,sk-c"
    assert FoundKey("sk-a,sk-b", "X").values == ("sk-a", "sk-b")
