"""Known key shapes and configured values never get past the funnel; ordinary text does."""

from __future__ import annotations

import json

import pytest

from hermes_tui.engine.config.secret_shapes import SHAPES
from hermes_tui.engine.policy.redaction import Redactor

FILLER = "abcdefghijklmnopqrstuvwxyz0123456789"
PEM = "PRIVATE KEY-----"
EXAMPLES = {
    "private_key": f"-----BEGIN RSA {PEM}\nMIIEabc+/=\n-----END RSA {PEM}",
    "anthropic": f"sk-ant-{FILLER}",
    "openrouter": f"sk-or-v1-{FILLER}",
    "api_key": f"sk-test-{FILLER}",
    "github": f"ghp_{FILLER}",
    "gitlab": f"glpat-{FILLER}",
    "aws": f"AKIA{FILLER[:16].upper()}",
    "google": f"AIza{FILLER}",
    "slack": f"xoxb-1234567890-{FILLER}",
    "groq": f"gsk_{FILLER}",
    "xai": f"xai-{FILLER}",
    "huggingface": f"hf_{FILLER}",
    "stripe": f"sk_live_{FILLER}",
    "jwt": f"eyJ{FILLER}.eyJ{FILLER}.{FILLER}",
}
"""Put together here, so that no scanner takes this file for a leak."""


def test_there_is_an_example_of_each_shape() -> None:
    assert set(EXAMPLES) == {kind for kind, _ in SHAPES}


@pytest.mark.parametrize("kind", EXAMPLES)
def test_each_shape_is_found_inside_text_and_inside_json(kind: str) -> None:
    redactor = Redactor()
    assert redactor.text(f"key={EXAMPLES[kind]}, end") == f"key=[redacted:{kind}], end"
    inside = json.loads(redactor.text(json.dumps({"a": EXAMPLES[kind], "b": 1})))
    assert inside == {"a": f"[redacted:{kind}]", "b": 1}


def test_a_private_key_without_its_end_takes_its_lines_only() -> None:
    text = json.dumps({"a": f"-----BEGIN {PEM}\nMIIE\n", "b": "kept"})
    assert json.loads(Redactor().text(text))["b"] == "kept"


@pytest.mark.parametrize("text", ["", "risk-free sk-short", "the ghost of AIza", "eyJ", "github.com/a/b", "你好"])
def test_ordinary_text_is_the_same_object(text: str) -> None:
    assert Redactor().text(text) is text


def test_configured_values_are_found_and_short_ones_left_alone() -> None:
    redactor = Redactor(lambda: ("my-own-secret", "abc"))
    assert redactor.text("x my-own-secret abc") == "x [redacted:configured_key] abc"


def test_a_new_key_counts_at_once() -> None:
    secrets: list[str] = []
    redactor = Redactor(lambda: secrets)
    secrets.append("fresh-secret")
    assert "fresh" not in redactor.text("fresh-secret")


def test_every_string_of_a_value_is_cleaned_but_image_data() -> None:
    key = EXAMPLES["github"]
    value = {"a": [key, {"b": key}], "n": 1, "image": f"data:image/png;base64,{key}"}
    clean = Redactor().value(value)
    assert clean == {
        "a": ["[redacted:github]", {"b": "[redacted:github]"}],
        "n": 1,
        "image": f"data:image/png;base64,{key}",
    }


@pytest.mark.parametrize("text", ["data: {0}", "data:{0}", "data:image/png;base64,AAAA {0}", "data:text/plain,{0}"])
def test_text_that_only_begins_like_a_data_url_is_cleaned(text: str) -> None:
    assert Redactor().value(text.format(EXAMPLES["github"])) == text.format("[redacted:github]")
