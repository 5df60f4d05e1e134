"""The rules of code, words and files: each fault is named, in either language.

The rules of structure are planted in test_structure.py.
"""

import html
import inspect
import re
import string
import subprocess
import sys
import tomllib
from pathlib import Path

import markdown
import pytest

from cookbook.catalogue import Catalogue
from cookbook.checks import file_checks, lint, prose_checks
from cookbook.rules import ERROR, GROUPS, RULES, WARNING, Problem
from cookbook.site import indexes
from tests.engine import (
    test_mutation,
    test_parity,
    test_records,
    test_shown,
    test_structure,
)
from tests.engine.plants import PAGE, SNIPPET, TEST, TWIN, plant
from tests.engine.test_apis import resolve

ROOT = Path(__file__).parents[2]
NOTE = "F101 what looks like a credential"
# In pieces, so that the checks of this repository do not find them here.
KEY = "AKIA" + "QYLPMN5HHHFPZAM2"
HUB = "hf" + "_" + "aB3" * 11
GITHUB = "ghp" + "_" + "aB3dE6gH9j" * 4
HOME = "/home/" + "ana"
WINDOWS = "C:" + "\\data\\"
ONE, TO_DO = "a path of one machine, ", "TO" + "DO"

FILE_FAULTS = {
    "home folder": ("py", f'path = "{HOME}/data"', f"{SNIPPET}:4: F102 {ONE}{HOME}; "),
    "drive": ("zh", f"{WINDOWS}train", f"{TWIN}:12: F102 {ONE}{WINDOWS}; "),
    "work left in py": ("py", f"{TO_DO}: more", f"{SNIPPET}:4: F103 left"),
    "work left in zh": ("zh", f"{TO_DO}: more", f"{TWIN}:12: F103 left"),
    "work left in test": ("test", f"{TO_DO}: more", f"{TEST}:8: F103 left"),
}


@pytest.mark.parametrize("name", FILE_FAULTS)
def test_a_fault_of_any_file_is_named_likewise(cookbook, name):
    file, text, expected = FILE_FAULTS[name]
    plant(cookbook, **{file: text})
    paths = [Path(path) for path in (PAGE, TWIN, SNIPPET, TEST)]
    (found,) = file_checks.problems(cookbook.root, paths)
    assert str(found).startswith(expected)


# In two parts, for the same reason.
FORMS = {
    "AWS": ("ASIA", "QYLPMN5HHHFPZAM2"),
    "GitHub": ("github_pat_", "aB3dE6gH9j" * 6),
    "Hugging Face": (HUB[:3], HUB[3:]),
    "OpenAI": ("sk-proj-", "aB3_" * 20),
    "password in an address": ("https://ana:", "correcthorse@a.org/"),
    "Google": ("AIza", "aB3dE6g" * 5),
    "PyPI": ("pypi-AgEI", "cHlwaS5vcmc" + "aB3dE" * 10),
    "Slack": ("xoxb-", "1234567890-aB3dE6gH9"),
    "Weights & Biases": ("WANDB_API_KEY", "=" + "0a" * 20),
    "private key": ("-----BEGIN RSA ", "PRIVATE KEY-----"),
}


@pytest.mark.parametrize("kind", FORMS)
def test_a_credential_is_known_by_its_form(cookbook, kind):
    cookbook.write("notes.md", f"a\n\n{''.join(FORMS[kind])}\n")
    found = file_checks.problems(cookbook.root, [Path("notes.md")])
    assert [str(problem) for problem in found] == [
        f"notes.md:3: {NOTE} ({kind}); remove it, and revoke it where it is valid; an "
        "example is marked by the comment pragma: allowlist secret"
    ]


OUT_OF_PLACE = {
    "docs": ("docs/en/training/helper", "docs/en/training/old.py", "docs/notes.txt"),
    "snippets": ("snippets/training/weights.bin", "snippets/stray.py"),
    "tests/snippets": (
        "tests/snippets/training/conftest.py",
        "tests/snippets/training/helper.py",
    ),
    "verified": ("verified/notes.txt",),
}
OUT_OF_PLACE["docs"] += ("docs/en/training/deeper/page.md",)
TREE_FAULTS = {
    path: ({path: "x = 1"}, f"{path}:1: F105 no file of this kind belongs in {folder}/")
    for folder, paths in OUT_OF_PLACE.items()
    for path in paths
} | {
    "a large file": (
        {"tests/search/all.jsonl": "x" * 200_001},
        "tests/search/all.jsonl:1: F107 a file of 200 kB; keep it below 200,",
    ),
    "a credential in UTF-16": (
        {"en": {"text": f"\n{HUB}\n", "encoding": "utf-16"}},
        f"{PAGE}:1: F104 {PAGE} is not UTF-8, or begins with a byte-order mark; ",
    ),
}


@pytest.mark.parametrize("name", TREE_FAULTS)
def test_a_file_that_does_not_belong_is_named(cookbook, name):
    changes, expected = TREE_FAULTS[name]
    plant(cookbook, **changes)
    (found,) = file_checks.problems(cookbook.root, file_checks.files(cookbook.root))
    assert str(found).startswith(expected)


@pytest.mark.parametrize("in_git", [True, False])
def test_a_link_is_named(cookbook, in_git):
    if in_git:
        cookbook.write(".git/info/exclude", "/cookbook\n/docs/overrides\n")
        cookbook.git("init", "--quiet")
    (cookbook.root / SNIPPET).unlink()
    (cookbook.root / SNIPPET).symlink_to("/nowhere")
    (found,) = file_checks.problems(cookbook.root, file_checks.files(cookbook.root))
    assert str(found).startswith(f"{SNIPPET}:1: F106 a symbolic link; ")


def test_git_decides_which_files_are_looked_at(cookbook):
    cookbook.git("init", "--quiet")
    cookbook.write("README.md", "tracked\n")
    cookbook.write("removed.md", "tracked\n")
    cookbook.git("add", "README.md", "removed.md")
    (cookbook.root / "removed.md").unlink()
    cookbook.write("new.md", "not yet tracked\n")
    cookbook.write("env/.gitignore", "*\n")  # as virtualenv writes it
    cookbook.write("env/key.py", f'key = "{KEY}"\n')
    cookbook.write("other/.git/HEAD", "ref: refs/heads/main\n")
    found = {str(path) for path in file_checks.files(cookbook.root)}
    assert {"README.md", "new.md"} <= found
    assert not {"removed.md", "env/key.py"} & found


def test_a_credential_is_found_in_any_text_that_git_keeps(cookbook):
    path = ".github/workflows/x.yml"
    cookbook.write(path, f"a\n{GITHUB[:40]}\n")
    cookbook.write("site/index.html", GITHUB[:40])  # which git ignores
    (cookbook.root / "a.png").write_bytes(b"\x89PNG\0" + GITHUB.encode())
    (found,) = file_checks.problems(cookbook.root, file_checks.files(cookbook.root))
    assert str(found).startswith(f"{path}:2: {NOTE} (GitHub); ")


def test_paths_that_are_none_of_one_machine_pass(cookbook):
    code = (
        'parts = "a/b".split("/"), "/dev/null", "https://a.org/x", "a" + "/b"\n'
        'file = f"{parts}/results.pt"\nmark = "example pragma: allowlist secret", '
    )
    plant(cookbook, py=f'{code}"{HUB}"')
    assert file_checks.problems(cookbook.root, [Path(SNIPPET)]) == []


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


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_rule_stands_on_the_page_of_rules(lang):
    text = indexes.rules_page(Catalogue(ROOT), lang)
    page = markdown.markdown(text, extensions=["tables", "attr_list"])
    shown = html.unescape(re.sub(r"<[^>]+>", "", page))
    for rule in RULES.values():
        assert f'id="{rule.code.lower()}"' in page
        for part in getattr(rule, lang):
            first = part.partition("{")[0].strip()
            assert first in shown
    assert text.count("(warning)") + text.count("（警告）") == sum(
        rule.severity == WARNING for rule in RULES.values()
    )


def planted() -> set[str]:
    """The codes that the tests of the engine plant a fault for."""
    tables = Path(__file__).with_name("faults.toml").read_text("utf-8")
    modules = test_mutation, test_parity, test_records, test_shown, test_structure
    modules += (sys.modules[__name__],)
    sources = [tables, *map(inspect.getsource, modules)]
    return set(re.findall(r"\b[A-Z]\d{3}\b", "\n".join(sources)))


def test_no_rule_lacks_a_planted_fault():
    assert {rule.code for rule in RULES.values()} - planted() == set()


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_both_languages_of_a_rule_speak_of_the_same_facts(rule):
    assert rule.code[:2] in GROUPS
    assert set(fields(rule.zh)) <= set(fields(rule.en))
    assert all(re.search(r"[\u4e00-\u9fff]", text) for text in rule.zh)
    assert not any(re.search(r"[\u4e00-\u9fff]", text) for text in rule.en)


def fields(texts: tuple[str, str]) -> list[str]:
    parsed = (part for text in texts for part in string.Formatter().parse(text))
    return [field for _, field, _, _ in parsed if field]


def test_codes_are_unique_and_warnings_are_no_errors():
    assert len({rule.code for rule in RULES.values()}) == len(RULES)
    assert Problem(Path("a"), 1, "heading-level-1").is_error
    assert not Problem(Path("a"), 1, "twin-unconfirmed").is_error
    assert RULES["heading-level-1"].severity == ERROR


# What ruff finds in a snippet, with snippets/ruff.toml, and what its message says.
RUFF_FAULTS = {
    "x = 1": "1:1: A005",
    "def double(x):\n    return 2 * x": "3:5: D103",
    f'x = "{"x" * 74}"': "3:80: E501",
    'x = "\u202e1"  # runs backwards': "3:1: PLE2502",
    "\u0435 = 1  # a letter of another script": "3:1: PLC2401",
    "from torch.cuda.amp import GradScaler as Scaler\n\nScaler()": "`torch.cuda.amp."
    "GradScaler` is banned: deprecated or gone: use torch.amp.GradScaler",
    'import torch\n\ntorch.hub.load("a", "b")': "`torch.hub` is banned: needs the",
}


@pytest.mark.parametrize("code", RUFF_FAULTS)
def test_ruff_refuses_what_it_has_a_rule_for(code):
    place = ["--stdin-filename", "snippets/training/logging.py", "-"]
    done = subprocess.run(
        [lint.BIN / "ruff", *lint.CHECK, *place],
        input=f'"""A snippet."""\n\n{code}\n',
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert RUFF_FAULTS[code] in done.stdout


SETTINGS = tomllib.loads((ROOT / "snippets/ruff.toml").read_text("utf-8"))
BANS = SETTINGS["lint"]["flake8-tidy-imports"]["banned-api"].values()
INSTEAD = {ban["msg"].split()[-1] for ban in BANS if "deprecated" in ban["msg"]}


@pytest.mark.parametrize("name", sorted(INSTEAD))
def test_what_is_recommended_instead_exists(name):
    if not name.startswith("torchao."):  # a package of its own
        assert resolve(name) is not None


def test_the_glossary_is_sound():
    terms = prose_checks.glossary(ROOT)
    preferred = [term.zh for term in terms]
    avoided = [word for term in terms for word in term.avoid]
    for words in ([term.en for term in terms], preferred, avoided):
        assert all(words)
        assert len(words) == len(set(words))
    # An avoided word inside another term would be found wherever that one stands.
    for term in terms:
        for word in term.avoid:
            assert not any(word in other for other in preferred if other != term.zh)
