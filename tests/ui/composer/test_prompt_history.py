from hermes_tui.widgets.prompt_history import PromptHistory


def test_walking_back_and_forth_returns_to_the_draft():
    history = PromptHistory(["one", "two"])
    assert [history.older("draft"), history.older("two"), history.older("one")] == ["two", "one", None]
    assert [history.newer(), history.newer(), history.newer()] == ["two", "draft", None]


def test_blank_and_repeated_prompts_are_kept_once():
    history = PromptHistory(["a", "a", "  ", "b", "a"])
    assert history.search("") == ["a", "b"]
    assert [history.older(""), history.older(""), history.older(""), history.older("")] == ["a", "b", "a", None]


def test_sending_ends_the_walk():
    history = PromptHistory(["a"])
    history.older("draft")
    history.add("b")
    assert not history.is_walking
    assert history.older("") == "b"


def test_search_wants_all_words_in_any_order_and_gives_the_newest_first():
    history = PromptHistory(["fix the test", "write docs", "Test again, then fix"])
    assert history.search("FIX test") == ["Test again, then fix", "fix the test"]
    assert history.search("nothing") == []
