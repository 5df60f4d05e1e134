"""The rules themselves, what git does for them, and the glossary.

Each fault that a rule names is planted in faults.toml, or in another test of this
folder.
"""

import re
import string
import tomllib
from pathlib import Path
from pkgutil import resolve_name

import pytest

from cookbook.checks import files, prose
from cookbook.rules import RULES
from tests.engine.plants import TWIN, plant
from tests.helpers import ROOT

LEFT = "/home" + "/ana"  # a path of one machine


def test_what_git_would_keep_is_looked_at(cookbook):
    root = cookbook.root
    for name in ("new.md", "removed.md", "site/index.html", "other/.git/HEAD"):
        cookbook.write(name, LEFT)
    (root / "a.png").write_bytes(b"\x89PNG\0" + LEFT.encode())
    (root / "link.md").symlink_to("/nowhere")
    cookbook.write("env/.gitignore", "*\n")  # as virtualenv writes it
    cookbook.write("env/key.py", LEFT)
    cookbook.git("add", "removed.md")
    (root / "removed.md").unlink()
    link, path = files.problems(root, files.files(root))
    assert str(link).startswith("link.md:1: F106 a symbolic link; ")
    assert str(path).startswith(f"new.md:1: F102 a path of one machine, {LEFT}; ")


def test_messages_are_chinese_where_the_locale_is(cookbook, monkeypatch):
    plant(cookbook, zh="这是过度拟合。")
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert cookbook.problems() == [
        f"{TWIN}:12: P313 “过度拟合”不是 overfitting 的统一译名；写成“过拟合”，"
        "以 docs/glossary.yml 为准",
    ]
    monkeypatch.setenv("LC_ALL", "en_US.UTF-8")
    assert "is not the term for overfitting" in cookbook.problems()[0]


def test_no_rule_lacks_a_planted_fault():
    codes = [rule.code for rule in RULES.values()]
    assert len(set(codes)) == len(codes)
    tests = [file for file in Path(__file__).parent.iterdir() if file.is_file()]
    planted = "".join(file.read_text("utf-8") for file in tests)
    assert set(codes) - set(re.findall(r"\b[A-Z]\d{3}\b", planted)) == set()


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_both_languages_of_a_rule_speak_of_the_same_facts(rule):
    assert set(fields(rule.zh)) <= set(fields(rule.en))
    assert all(re.search(r"[\u4e00-\u9fff]", text) for text in rule.zh)
    assert not any(re.search(r"[\u4e00-\u9fff]", text) for text in rule.en)


def fields(texts: tuple[str, str]) -> list[str]:
    parsed = (part for text in texts for part in string.Formatter().parse(text))
    return [field for _, field, _, _ in parsed if field]


SETTINGS = tomllib.loads((ROOT / "snippets/ruff.toml").read_text("utf-8"))
BANS = SETTINGS["lint"]["flake8-tidy-imports"]["banned-api"].values()
INSTEAD = {ban["msg"].split()[-1] for ban in BANS if "deprecated" in ban["msg"]}


@pytest.mark.parametrize("name", sorted(INSTEAD))
def test_what_is_recommended_instead_exists(name):
    if not name.startswith("torchao."):  # a package of its own
        assert resolve_name(name) is not None


def test_the_glossary_is_sound():
    terms = prose.glossary(ROOT)
    preferred = [term.zh for term in terms]
    avoided = [word for term in terms for word in term.avoid]
    for words in ([term.en for term in terms], preferred, avoided):
        assert all(words)
        assert len(words) == len(set(words))
    # An avoided word inside another term would be found wherever that one stands.
    for term in terms:
        for word in term.avoid:
            assert not any(word in other for other in preferred if other != term.zh)
