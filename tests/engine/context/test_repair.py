"""Single values: text, names, ids, arguments."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tui.engine.context.repair import clean_text, clean_tool_name, normalise_arguments, valid_call_id


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_clean_text_can_always_be_encoded_and_is_clean_already(text: str) -> None:
    clean = clean_text(text)
    clean.encode()
    assert "\0" not in clean and clean_text(clean) == clean


@given(st.text())
def test_ordinary_text_is_kept(text: str) -> None:
    assert clean_text(text) == text.replace("\0", "")


@pytest.mark.parametrize(
    ("raw", "clean"), [("\ud83d\ude00", "😀"), ("a\ud800b", "a�b"), ("A\u2028B\x85C", "A\u2028B\x85C")]
)
def test_surrogate_pairs_are_joined_and_lone_ones_replaced(raw: str, clean: str) -> None:
    assert clean_text(raw) == clean


@given(st.text())
def test_a_cleaned_name_is_accepted_everywhere(name: str) -> None:
    clean = clean_tool_name(name)
    assert 1 <= len(clean) <= 64 and clean_tool_name(clean) == clean


@pytest.mark.parametrize(
    ("given_id", "valid"), [("call_1", "call_1"), ("a b:c", "abc"), ("", ""), (None, ""), (7, ""), ("x" * 99, "x" * 64)]
)
def test_ids_keep_only_allowed_letters(given_id: object, valid: str) -> None:
    assert valid_call_id(given_id) == valid


@given(st.dictionaries(st.text(), st.one_of(st.text(), st.integers(), st.none(), st.lists(st.booleans()))))
def test_valid_arguments_are_kept_byte_for_byte(value: dict[str, object]) -> None:
    raw = json.dumps(value)
    if "\\u0000" not in raw:
        assert normalise_arguments(raw) == (raw, "ok")


@given(st.one_of(st.text(), st.none(), st.integers(), st.dictionaries(st.text(), st.floats())))
def test_whatever_is_given_the_result_is_one_json_object(raw: object) -> None:
    text, _ = normalise_arguments(raw)

    def refuse(name: str) -> None:
        raise AssertionError(name)

    assert isinstance(json.loads(text, parse_constant=refuse), dict)
    text.encode()


@pytest.mark.parametrize(
    ("raw", "text", "state"),
    [
        ({"path": "a.txt", "limit": 5}, '{"path": "a.txt", "limit": 5}', "ok"),
        ("", "{}", "ok"),
        (None, "{}", "ok"),
        ("None", "{}", "broken"),
        ('{"a":1,}', '{"a": 1}', "repaired"),
        ("{'a': 'b'}", '{"a": "b"}', "repaired"),
        ('{"a": NaN}', '{"a": null}', "repaired"),
        ('{"a": "\\ud83d"}', '{"a": "�"}', "repaired"),
        ('{"a": "x\\u0000y"}', '{"a": "xy"}', "repaired"),
        ('{"content": "half of a f', "{}", "broken"),
        ('{"a": "escaped \\" quote', "{}", "broken"),
    ],
)
def test_arguments_case_by_case(raw: object, text: str, state: str) -> None:
    assert normalise_arguments(raw) == (text, state)
