"""Rules of the user: their syntax, when they match, and what "always" proposes.

A rule is shell words: a program, then leading words and options. It is sorted with the same table as a command, so
global options, spellings and positions do not matter.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from .gate.facts import Args, Issue, Level, Word, is_dynamic
from .gate.rules import Finding, sort_words

_SUBCOMMAND = re.compile(r"[a-z][a-z0-9:_-]*\Z")


@dataclass(frozen=True, slots=True)
class Rule:
    """A parsed allow or deny rule."""

    text: str
    """As written."""
    program: str
    lead: tuple[str, ...]
    """Subcommands and leading words."""
    options: frozenset[str]
    """Canonical options that it names."""


@lru_cache(maxsize=512)
def parse_rule(text: str) -> Rule | None:
    """Parse a rule; None when it holds no words, because a rule without words would match everything."""
    try:
        words = shlex.split(text)
    except ValueError:
        return None
    if not words or not words[0]:
        return None
    _, program, args, lead = sort_words([Word(word) for word in words])
    return Rule(text, program, lead, _option_names(args))


def parse_rules(texts: Iterable[str]) -> tuple[Rule, ...]:
    """Parse rules, leaving out those without words."""
    return tuple(rule for rule in map(parse_rule, texts) if rule is not None)


def _option_names(args: Args) -> frozenset[str]:
    return frozenset(used.option.name for used in args.used) | frozenset(args.unknown)


def find_deny(finding: Finding, rules: Iterable[Rule]) -> Rule | None:
    """Return the deny rule that a command meets, in whatever spelling."""
    if finding.args is None:
        return None
    options = _option_names(finding.args)
    for rule in rules:
        if rule.program == finding.program and _leads(rule, finding) and rule.options <= options:
            return rule
    return None


def find_allow(finding: Finding, rules: Iterable[Rule], asks_from: Level) -> Rule | None:
    """Return the allow rule that covers every issue of a command that would ask.

    Args:
        finding: The judged command.
        rules: Allow rules.
        asks_from: Issues of this level and above ask in the current mode.
    """
    if finding.args is None:
        return None
    asking = [issue for issue in finding.issues if issue.level >= asks_from]
    for rule in rules:
        if rule.program != finding.program or not _leads(rule, finding):
            continue
        if all(_covers(rule, issue, finding) for issue in asking):
            return rule
    return None


def _leads(rule: Rule, finding: Finding) -> bool:
    return finding.lead[: len(rule.lead)] == rule.lead


def _covers(rule: Rule, issue: Issue, finding: Finding) -> bool:
    if issue.level >= Level.NEVER or issue.deny:
        return False
    if issue.origin == "option":
        return issue.option in rule.options
    if issue.origin != "program":
        return False
    subcommands = len(finding.args.lead) if finding.args else 0
    return issue.level < Level.DANGER or len(rule.lead) >= subcommands


def propose_rule(finding: Finding) -> str:
    """Return the rule that "always" would store for a command, or an empty string when none may be offered.

    Never for interpreters, wrappers, network programs and containers (their rows say so), danger, words known only at
    run time, local files, changed environments.
    """
    args = finding.args
    asking = [issue for issue in finding.issues if issue.level > Level.SAFE]
    if args is None or not finding.remember or finding.command.assigns:
        return ""
    if any(issue.level >= Level.DANGER or issue.origin not in ("program", "option") for issue in asking):
        return ""
    if any(is_dynamic(word.text) or not word.text.isprintable() for word in finding.command.words):
        return ""
    prefix = ["-m"] if finding.lead[:1] == ("-m",) else []
    lead = [*prefix, *args.lead]
    if not args.lead and args.operands and args.row.operands == "-*" and _SUBCOMMAND.match(args.operands[0].text):
        lead.append(args.operands[0].text)
    options = [issue.option for issue in asking if issue.origin == "option"]
    return shlex.join([finding.program, *lead, *dict.fromkeys(options)])
