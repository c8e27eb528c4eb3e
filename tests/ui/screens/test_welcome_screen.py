import pytest
from support.fake_engine import FakeEngine
from support.screens import Host, painted, until
from textual import events
from textual.pilot import Pilot

from hermes_tui.engine.types.errors import HermesError
from hermes_tui.engine.types.models import ConnectionCheck, ModelRow, ProviderRow
from hermes_tui.screens.welcome import WelcomeChoice, WelcomeScreen
from hermes_tui.widgets.field import Field
from hermes_tui.widgets.fuzzy_list import FuzzyList


@pytest.fixture
def engine() -> FakeEngine:
    engine = FakeEngine()
    engine.providers = [
        ProviderRow(name="openai", title="OpenAI", key_env="OPENAI_API_KEY", state="no_key"),
        ProviderRow(name="llamacpp", title="llama.cpp", base_url="http://127.0.0.1:8080/v1", state="not_running"),
        ProviderRow(name="anthropic", title="Anthropic", key_env="ANTHROPIC_API_KEY", state="ready"),
        ProviderRow(
            name="ollama", title="Ollama", base_url="http://127.0.0.1:11434/v1", state="ready", models=("qwen3:8b",)
        ),
    ]  # fmt: skip
    engine.models = [
        ModelRow(id="anthropic/claude", provider="anthropic", name="claude", usable=True),
        ModelRow(id="openai/gpt", provider="openai", name="gpt"),
    ]
    return engine


async def welcome(host: Host, pilot: Pilot[None], engine: FakeEngine | None) -> WelcomeScreen:
    screen = WelcomeScreen(engine)  # type: ignore[arg-type]
    host.open(screen)
    await until(pilot, lambda: screen.is_mounted)
    if engine is not None:
        await until(pilot, lambda: screen.query_one(FuzzyList).view.found or engine.errors)
    await pilot.pause()
    return screen


async def settled(pilot: Pilot[None]) -> None:
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


@pytest.mark.parametrize(
    ("keys", "choice"),
    [
        (["d"], WelcomeChoice("demo")),
        (["ctrl+d"], WelcomeChoice("demo")),
        (["end", "enter"], WelcomeChoice("demo")),
        (["escape"], WelcomeChoice("skip")),
        (["ctrl+c"], WelcomeChoice("skip")),
    ],
)
async def test_the_demo_and_the_chat_are_one_key_away(engine: FakeEngine, keys: list[str], choice: WelcomeChoice):
    host = Host()
    async with host.run_test() as pilot:
        await welcome(host, pilot, engine)
        await pilot.press(*keys)
        await until(pilot, lambda: host.results == [choice])


async def test_a_key_from_the_environment_needs_no_typing(engine: FakeEngine):
    host = Host()
    async with host.run_test() as pilot:
        await welcome(host, pilot, engine)
        assert "Found Anthropic and Ollama." in painted(host)
        assert "key from ANTHROPIC_API_KEY" in painted(host)
        await pilot.press("enter")
        await settled(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: host.results == [WelcomeChoice("model", "anthropic/claude")])
        assert engine.asked("check_model") == [("anthropic/claude", "")]


async def test_a_local_server_offers_the_models_it_has(engine: FakeEngine):
    host = Host()
    async with host.run_test() as pilot:
        await welcome(host, pilot, engine)
        await pilot.press("down", "enter")
        await until(pilot, lambda: "qwen3:8b" in painted(host))
        await settled(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: host.results == [WelcomeChoice("model", "ollama/qwen3:8b")])


async def test_a_pasted_key_is_masked_cleaned_and_saved(engine: FakeEngine):
    host = Host()
    async with host.run_test() as pilot:
        screen = await welcome(host, pilot, engine)
        await pilot.press(*"openai", "enter")
        await until(pilot, lambda: screen.query_one("#key", Field).has_focus)
        host.post_message(events.Paste("\x1b[200~sk-test-123\n\x1b[201~"))
        await until(pilot, lambda: screen.query_one("#key", Field).value)
        assert "sk-test" not in painted(host)
        await pilot.press("enter")
        await until(pilot, lambda: engine.saved_keys == {"openai": "sk-test-123"})
        await until(pilot, lambda: "credentials.toml" in painted(host))
        await settled(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: host.results == [WelcomeChoice("model", "openai/gpt")])


async def test_a_key_with_a_look_alike_letter_is_not_saved(engine: FakeEngine):
    host = Host()
    async with host.run_test() as pilot:
        screen = await welcome(host, pilot, engine)
        await pilot.press(*"openai", "enter")
        await until(pilot, lambda: screen.query_one("#key", Field).has_focus)
        host.post_message(events.Paste("s\u043a-abc"))
        await until(pilot, lambda: screen.query_one("#key", Field).value)
        await pilot.press("enter")
        await until(pilot, lambda: "Character 2" in painted(host))
        assert engine.saved_keys == {}


async def test_a_failed_test_is_told_in_words_and_can_be_tried_again(engine: FakeEngine):
    engine.check = ConnectionCheck(ok=False, text="Anthropic does not accept the key.", hint="Make a new one.")
    host = Host()
    async with host.run_test() as pilot:
        await welcome(host, pilot, engine)
        await pilot.press("enter")
        await settled(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: "does not accept the key. Make a new one." in painted(host))
        assert host.results == []
        engine.check = ConnectionCheck(ok=True, text="It works.")
        await pilot.press("enter")
        await until(pilot, lambda: host.results)


async def test_a_test_that_hangs_is_left_with_escape_and_its_result_dropped(engine: FakeEngine):
    release = engine.hold("check_model")
    host = Host()
    async with host.run_test() as pilot:
        screen = await welcome(host, pilot, engine)
        await pilot.press("enter")
        await settled_models(pilot, screen)
        await pilot.press("enter")
        await until(pilot, lambda: "for one token" in painted(host) and engine.asked("check_model"))
        await pilot.press("escape")
        await until(pilot, lambda: "Choose a model" in painted(host))
        release()
        await settled(pilot)
        assert host.results == []
        await pilot.press("escape")
        await until(pilot, lambda: "where answers come from" in painted(host))


async def settled_models(pilot: Pilot[None], screen: WelcomeScreen) -> None:
    await until(pilot, lambda: any(row.id == "anthropic/claude" for row in screen.query_one(FuzzyList).view.found))


async def test_a_server_that_does_not_run_says_what_to_do(engine: FakeEngine):
    host = Host()
    async with host.run_test() as pilot:
        await welcome(host, pilot, engine)
        await pilot.press(*"llama", "enter")
        await until(pilot, lambda: "Nothing answers at http://127.0.0.1:8080/v1" in painted(host))
        await pilot.press("ctrl+r")
        await until(pilot, lambda: len(engine.asked("list_providers")) == 2)


async def test_errors_of_the_engine_are_shown(engine: FakeEngine):
    engine.errors["list_providers"] = HermesError("The settings cannot be read.", hint="Mend line 3.")
    host = Host()
    async with host.run_test() as pilot:
        await welcome(host, pilot, engine)
        await until(pilot, lambda: "The settings cannot be read. Mend line 3." in painted(host))


async def test_it_opens_before_the_engine_is_ready(engine: FakeEngine):
    host = Host()
    async with host.run_test() as pilot:
        screen = await welcome(host, pilot, None)
        assert "Starting" in painted(host)
        screen.set_engine(engine)  # type: ignore[arg-type]
        await until(pilot, lambda: "Anthropic" in painted(host))


async def test_a_model_that_is_not_listed_is_typed(engine: FakeEngine):
    host = Host()
    async with host.run_test() as pilot:
        screen = await welcome(host, pilot, engine)
        await pilot.press("enter")
        await settled_models(pilot, screen)
        await pilot.press(*"new-1", "enter")
        await until(pilot, lambda: host.results == [WelcomeChoice("model", "anthropic/new-1")])
