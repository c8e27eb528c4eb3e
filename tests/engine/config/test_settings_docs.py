"""Every setting documents itself."""

from __future__ import annotations

from hermes_tui.engine.config.describe import describe_settings


def test_every_setting_has_a_type_a_default_and_words() -> None:
    docs = {doc.key: doc for doc in describe_settings()}
    assert len(docs) > 30
    for doc in docs.values():
        assert doc.doc, doc.key
        assert doc.type, doc.key
    turns = docs["agent.max_turns"]
    assert (turns.type, turns.default) == ("a whole number", "90")
    assert docs["providers.NAME.models.NAME.context_window"].type == "a whole number"
    assert docs["ui.keys.NAME"].type == "text"
    assert docs["ui.mouse"].default == "true"
