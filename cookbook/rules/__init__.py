"""What a problem is; the rules that problems break are in ``rules.toml``.

A problem names its rule and gives the facts that the rule's texts leave open; the
reader's locale chooses the language.
"""

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ERROR, WARNING = "error", "warning"
SEPARATOR = {"en": "; ", "zh": "；"}
WARNINGS_FOLLOW = {
    "en": "warnings, which fail nothing:",
    "zh": "警告（不算失败）：",
}
LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")  # the first that is set counts


@dataclass(frozen=True)
class Rule:
    """A rule, in format strings over the facts of a problem.

    A warning is listed and fails nothing.
    """

    name: str  # such as related-unknown, by which the code calls it
    code: str  # such as P110, by which readers look it up
    en: tuple[str, str]  # what is wrong, what to write instead
    zh: tuple[str, str]
    severity: str = ERROR

    def texts(self, lang: str, facts: Mapping[str, object]) -> list[str]:
        """What is wrong and what to write instead, with the facts in place."""
        return [text.format_map(facts) for text in getattr(self, lang)]


_DATA = tomllib.loads(Path(__file__).with_name("rules.toml").read_text("utf-8"))
RULES = {
    name: Rule(name, code, **texts)
    for code, named in _DATA.items()
    for name, texts in named.items()
}


@dataclass(frozen=True)
class Problem:
    """One fault: where it is, the name of the rule it breaks, the rule's facts."""

    path: Path
    line: int
    name: str
    facts: dict[str, object] = field(default_factory=dict)

    @property
    def rule(self) -> Rule:
        return RULES[self.name]

    @property
    def is_error(self) -> bool:
        return self.rule.severity == ERROR

    def message(self, lang: str) -> str:
        """The rule's code, what is wrong, what to write instead."""
        texts = self.rule.texts(lang, self.facts)
        return f"{self.rule.code} {SEPARATOR[lang].join(texts)}"

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message(reader_language())}"


def report(problems: Iterable[Problem]) -> int:
    """Print the problems, warnings last; how many errors there are."""
    problems = list(problems)
    # Two checks find what stops the build, so each line is printed once.
    errors = dict.fromkeys(str(problem) for problem in problems if problem.is_error)
    warnings = [str(problem) for problem in problems if not problem.is_error]
    for error in errors:
        print(f"  {error}")
    if warnings:
        print(WARNINGS_FOLLOW[reader_language()])
    for warning in warnings:
        print(f"  {warning}")
    return len(errors)


def reader_language() -> str:
    """Chinese where the locale is, else English."""
    locale = next(filter(None, map(os.environ.get, LOCALE)), "")
    return "zh" if locale.startswith("zh") else "en"
