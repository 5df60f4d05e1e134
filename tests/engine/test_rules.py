"""The rules of code, words and files: each fault is named, in either language.

The rules of structure are planted in test_structure.py.
"""

import contextlib
import html
import importlib
import inspect
import re
import string
import subprocess
import tomllib
import warnings
from pathlib import Path

import markdown
import pytest

from cookbook.catalogue import Catalogue
from cookbook.checks import file_checks, lint, prose_checks
from cookbook.rules import ERROR, GROUPS, RULES, WARNING, Problem
from cookbook.site import indexes
from tests.engine import test_records, test_shown, test_structure
from tests.engine.plants import (
    PAGE,
    SNIPPET,
    TEST,
    TWIN,
    Append,
    Both,
    Change,
    Encode,
    Link,
    Remove,
    Write,
    coded,
)
from tests.engine.test_changed import git

ROOT = Path(__file__).parents[2]
TORCH = "import torch\n\n"
NOTE = "F101 what looks like a credential"
REVOKE = (
    "remove it, and revoke it where it is valid; an example is marked by the comment "
    "pragma: allowlist secret"
)
# In pieces, so that the checks of this repository do not find them here.
KEY = "AKIA" + "QYLPMN5HHHFPZAM2"
HUB, PROJECT = "hf" + "_" + "aB3" * 11, "sk-" + "proj-" + "aB3_" * 20
GITHUB = "ghp" + "_" + "aB3dE6gH9j" * 4
HOME = "/home/" + "ana"
WINDOWS = "C:" + "\\data\\"
TO_DO = "TO" + "DO"


def used(code: str) -> Append:
    """The snippet, with an import of torch and a line of code, its sixth."""
    return coded(f"{TORCH}{code}\n")


FAULTS = {
    # The code of a snippet
    "code with Chinese names": (
        Append(TWIN, text="\n写成 `copy(源, 目标)`。\n"),
        f"{TWIN}:12: P314 Chinese characters in code: `copy(源, 目标)`; write it as it "
        "can be pasted",
    ),
    "recorded output that is empty": (
        Both(
            Change(SNIPPET, PAGE, old="assert 1 + 1 == 2", new="print()"),
            Write(SNIPPET.replace(".py", ".out"), "...\n"),
        ),
        f"{SNIPPET.replace('.py', '.out')}:1: S304 the recorded output says nothing; "
        "record what is the same in every run, and ... only for the rest",
    ),
    "no recorded output, no claim": (
        Change(SNIPPET, PAGE, old="assert 1 + 1 == 2", new="print()"),
        f"{SNIPPET}:1: S203 the snippet claims nothing; assert what it shows, or "
        "print it and record the output",
    ),
    "no recorded output, but an assert that claims nothing": (
        Change(SNIPPET, PAGE, old="assert 1 + 1 == 2", new="assert True"),
        f"{SNIPPET}:1: S203 the snippet claims nothing; assert what it shows, or "
        "print it and record the output",
    ),
    **{
        f"{replaced} that is replaced": (
            coded(f"import torch\nfrom torch import testing\n\n{replaced} = print\n"),
            f"{SNIPPET}:7: S213 {replaced} is replaced, so its claims prove nothing; "
            "leave it as the library has it",
        )
        for replaced in ("torch.testing.assert_close", "testing.assert_close")
    },
    "torch.load without weights_only": (
        used("torch.load('model.pt', map_location='cpu')"),
        f"{SNIPPET}:6: S209 torch.load without weights_only; write weights_only=True; "
        "False only for a file that is trusted, with a comment why",
    ),
    "no test": (
        Remove(TEST),
        f"{SNIPPET}:1: S303 no test of the snippet's behaviour; write {TEST}, against "
        "something independent",
    ),
    "tests of another snippet": (
        Change(TEST, old="label_smoothing", new="smoothing"),
        f"{TEST}:1: S313 these tests never load {SNIPPET}; load it with load_snippet("
        f'"training/label_smoothing.py"), or run the file at ROOT / "{SNIPPET}"',
    ),
    "test file without a test": (
        Change(TEST, old="def test_it_runs", new="def it_runs"),
        f"{TEST}:1: S313 these tests never load {SNIPPET}; load it with load_snippet("
        f'"training/label_smoothing.py"), or run the file at ROOT / "{SNIPPET}"',
    ),
    **{
        f"{skip} in a test": (
            Change(TEST, old=old, new=f"{skip}\n{old}"),
            f"{TEST}:{line}: S311 a test that is skipped everywhere; remove the mark, "
            "or skip on a condition with pytest.mark.skipif",
        )
        for skip, old, line in (
            ("pytestmark = pytest.mark.skip", "import runpy", 3),
            ("pytest.skip(allow_module_level=True)", "import runpy", 3),
            ('@pytest.mark.skip(reason="slow")', "def test_it_runs", 6),
            ('@pytest.mark.skipif(True, reason="slow")', "def test_it_runs", 6),
            ("    pytest.skip()", "    runpy.run_path", 7),
        )
    },
    # Words
    "English paragraph on the Chinese page": (
        Append(TWIN, text="\nThis paragraph was left\nas it was.\n"),
        f'{TWIN}:12: P311 not in Chinese: "This paragraph was left as it …"; '
        "translate it; put names of code between backticks",
    ),
    "English heading on the Chinese page": (
        Append(PAGE, TWIN, text="\n## Why it works {#why}\n"),
        f'{TWIN}:12: P311 not in Chinese: "Why it works"; translate it; put names '
        "of code between backticks",
    ),
    "English list item on the Chinese page": (
        Append(TWIN, text="\n- 第一项\n- the second item\n"),
        f'{TWIN}:13: P311 not in Chinese: "the second item"; translate it; put '
        "names of code between backticks",
    ),
    "English title on the Chinese page": (
        Change(TWIN, old="条目 label-smoothing", new="Smooth the labels"),
        f'{TWIN}:2: P311 not in Chinese: "Smooth the labels"; translate it; put names '
        "of code between backticks",
    ),
    "English heading of one word on the Chinese page": (
        Append(PAGE, TWIN, text="\n## Pitfalls {#pitfalls}\n"),
        f'{TWIN}:12: P311 not in Chinese: "Pitfalls"; translate it; put names of '
        "code between backticks",
    ),
    "English title of two words on the Chinese page": (
        Change(TWIN, old="条目 label-smoothing", new="Label smoothing"),
        f'{TWIN}:2: P311 not in Chinese: "Label smoothing"; translate it; put names '
        "of code between backticks",
    ),
    "Chinese on the English page": (
        Append(PAGE, text="\nSmooth it (标签平滑).\n"),
        f'{PAGE}:12: P312 not in English: "Smooth it (标签平滑)."; write it in '
        "English, and in Chinese on the Chinese page",
    ),
    "Chinese description on the English page": (
        Change(PAGE, old="Use it always", new="随时可用"),
        f'{PAGE}:3: P312 not in English: "随时可用."; write it in English, and in '
        "Chinese on the Chinese page",
    ),
    "a term to avoid": (
        Append(TWIN, text="\n这样可以减轻过度拟合。\n"),
        f"{TWIN}:12: P313 过度拟合 is not the term for overfitting; write 过拟合, the "
        "term of docs/glossary.yml",
    ),
    "a term to avoid in the title": (
        Change(TWIN, old="条目 label-smoothing", new="GPU 内存不够"),
        f"{TWIN}:2: P313 GPU 内存 is not the term for GPU memory; write 显存, the term "
        "of docs/glossary.yml",
    ),
    # Links and images
    "link to no page": (
        Append(PAGE, TWIN, text="\n[它](../data/none.md)\n"),
        f'{PAGE}:12: P312 not in English: "它"; write it in English, and in Chinese '
        "on the Chinese page",
        f"{PAGE}:12: P304 the link ../data/none.md leads nowhere; link to a file that "
        "exists, relative to this one",
        f"{TWIN}:12: P304 the link ../data/none.md leads nowhere; link to a file that "
        "exists, relative to this one",
    ),
    "link from the root of the site": (
        Append("docs/en/index.md", text="\n[mixup](/en/training/mixup/)\n"),
        "docs/en/index.md:9: P304 the link /en/training/mixup/ leads nowhere; link to "
        "a file that exists, relative to this one",
    ),
    "link to no heading": (
        Append(PAGE, TWIN, text="\n[1](#none)\n"),
        f"{PAGE}:12: P305 {PAGE} has no heading #none; link to an id that stands there",
        f"{TWIN}:12: P305 {TWIN} has no heading #none; link to an id that stands there",
    ),
    "image without a description": (
        Append("docs/zh/index.md", text="\n![](index.md)\n"),
        "docs/zh/index.md:9: P306 an image without a description; write "
        "![what it shows](file), for readers who do not see it",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_with_code_file_line_and_remedy(cookbook, name):
    plant, *expected = FAULTS[name]
    plant(cookbook)
    assert cookbook.problems() == expected


FILE_FAULTS = {
    "key of a cloud": (
        coded(f'key = "{KEY}"\n'),
        f"{SNIPPET}:4: {NOTE} (AWS); {REVOKE}",
    ),
    "password in an address": (
        Append(PAGE, text="\nhttps://ana:" + "correcthorse@a.org/\n"),
        f"{PAGE}:12: {NOTE} (password in an address); {REVOKE}",
    ),
    "home folder": (
        coded(f'path = "{HOME}/data"\n'),
        f"{SNIPPET}:4: F102 a path of one machine, {HOME}; write a path relative to "
        "the current folder",
    ),
    "home folder of root": (
        coded('path = "/root' + '/data"\n'),
        f"{SNIPPET}:4: F102 a path of one machine, /root" + "/data; write a path "
        "relative to the current folder",
    ),
    "token of a hub": (
        coded(f'token = "{HUB}"\n'),
        f"{SNIPPET}:4: {NOTE} (Hugging Face); {REVOKE}",
    ),
    "token of a project": (
        Append(TEST, text=f"# {PROJECT}\n"),
        f"{TEST}:8: {NOTE} (OpenAI); {REVOKE}",
    ),
    "drive": (
        Append(TWIN, text=f"\n放在 {WINDOWS}train 下。\n"),
        f"{TWIN}:12: F102 a path of one machine, {WINDOWS}; write a path relative to "
        "the current folder",
    ),
    "work left in a snippet": (
        coded(f"# {TO_DO}: the rest\n"),
        f"{SNIPPET}:4: F103 left undone: {TO_DO}: the rest; do it, and remove the "
        f"{TO_DO}",
    ),
    "work left on a page": (
        Change(TWIN, old="随时可用", new=f"{TO_DO}：何时用"),
        f"{TWIN}:3: F103 left undone: {TO_DO}：何时用。; do it, and remove the {TO_DO}",
    ),
    "work left in a test": (
        Append(TEST, text=f"# {TO_DO}\n"),
        f"{TEST}:8: F103 left undone: {TO_DO}; do it, and remove the {TO_DO}",
    ),
}


@pytest.mark.parametrize("name", FILE_FAULTS)
def test_a_fault_of_any_file_is_named_likewise(cookbook, name):
    plant, *expected = FILE_FAULTS[name]
    plant(cookbook)
    paths = [Path(path) for path in (PAGE, TWIN, SNIPPET, TEST)]
    found = file_checks.problems(cookbook.root, paths)
    assert [str(problem) for problem in found] == expected


# In two parts, for the same reason.
FORMS = {
    "AWS": ("ASIA", "QYLPMN5HHHFPZAM2"),
    "GitHub": ("github_pat_", "aB3dE6gH9j" * 6),
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
        f"notes.md:3: {NOTE} ({kind}); {REVOKE}"
    ]


TREE_FAULTS = {
    **{
        path: (
            Write(path, "x = 1\n"),
            f"{path}:1: F105 no file of this kind belongs in {folder}/; remove or "
            f"move it; allowed are {file_checks.HOLDS[folder]}",
        )
        for path, folder in {
            "docs/en/training/helper": "docs",
            "docs/en/training/old.py": "docs",
            "docs/en/training/deeper/page.md": "docs",
            "docs/notes.txt": "docs",
            "snippets/training/weights.bin": "snippets",
            "snippets/stray.py": "snippets",
            "tests/snippets/training/conftest.py": "tests/snippets",
            "tests/snippets/training/helper.py": "tests/snippets",
            "verified/notes.txt": "verified",
        }.items()
    },
    "a link": (
        Link(SNIPPET, "../../conftest.py"),
        f"{SNIPPET}:1: F106 a symbolic link; put the file itself here, or remove it",
    ),
    "a link that leads nowhere": (
        Link("docs/en/training/gone.md", "/nowhere"),
        "docs/en/training/gone.md:1: F106 a symbolic link; put the file itself here, "
        "or remove it",
    ),
    "a large file": (
        Write("tests/search/all.jsonl", "x" * 200_001),
        "tests/search/all.jsonl:1: F107 a file of 200 kB; keep it below 200, or make "
        "its data in the snippet",
    ),
    "a credential in UTF-16": (
        Both(Append(PAGE, text=f"\n{HUB}\n"), Encode(PAGE, "utf-16")),
        f"{PAGE}:1: F104 {PAGE} is not UTF-8, or begins with a byte-order mark; save "
        "it as UTF-8 without one",
    ),
}


@pytest.mark.parametrize("name", TREE_FAULTS)
@pytest.mark.parametrize("in_git", [True, False])
def test_a_file_that_does_not_belong_is_named(cookbook, name, in_git):
    if in_git:
        cookbook.write(".git/info/exclude", "/cookbook\n/docs/overrides\n")
        git(cookbook, "init", "--quiet")
    plant, *expected = TREE_FAULTS[name]
    plant(cookbook)
    found = file_checks.problems(cookbook.root, file_checks.files(cookbook.root))
    assert [str(problem) for problem in found] == expected


def test_git_decides_which_files_are_looked_at(cookbook):
    git(cookbook, "init", "--quiet")
    cookbook.write("README.md", "tracked\n")
    cookbook.write("removed.md", "tracked\n")
    git(cookbook, "add", "README.md", "removed.md")
    (cookbook.root / "removed.md").unlink()
    cookbook.write("new.md", "not yet tracked\n")
    cookbook.write("env/.gitignore", "*\n")  # as virtualenv writes it
    cookbook.write("env/key.py", f'key = "{KEY}"\n')
    cookbook.write("other/.git/HEAD", "ref: refs/heads/main\n")
    found = {str(path) for path in file_checks.files(cookbook.root)}
    assert {"README.md", "new.md"} <= found
    assert not {"removed.md", "env/key.py"} & found


@pytest.mark.parametrize(
    "path",
    [
        "README.md",
        "CONTRIBUTING.md",
        "Makefile",
        "mkdocs.yml",
        ".github/workflows/x.yml",
        "tests/search/search.js",
        "tools/package.json",
    ],
)
def test_a_credential_is_found_in_any_file(cookbook, path):
    cookbook.write(path, f"a\n{GITHUB[:40]}\n")
    cookbook.write("site/index.html", GITHUB[:40])  # which git ignores
    (cookbook.root / "a.png").write_bytes(b"\x89PNG\0" + GITHUB.encode())
    found = file_checks.problems(cookbook.root, file_checks.files(cookbook.root))
    assert [str(problem) for problem in found] == [
        f"{path}:2: {NOTE} (GitHub); {REVOKE}"
    ]


def test_a_file_in_another_encoding_is_named(cookbook):
    (cookbook.root / "README.md").write_text("# 说明\n", encoding="gb18030")
    found = file_checks.problems(cookbook.root, file_checks.files(cookbook.root))
    assert [f"{one.path}:{one.line}: {one.rule.code}" for one in found] == [
        "README.md:1: F104"
    ]
    assert cookbook.problems() == []


def test_paths_that_are_none_of_one_machine_pass(cookbook):
    coded(
        'parts = "a/b".split("/"), "/dev/null", "https://a.org/x", "a" + "/b"\n'
        'file = f"{parts}/results.pt"\nmark = "example pragma: allowlist secret", '
        f'"{HUB}"\n'
    )(cookbook)
    assert file_checks.problems(cookbook.root, [Path(SNIPPET)]) == []


SOUND = {
    "torch.load with weights_only": used("torch.load('a.pt', weights_only=True)"),
    "arguments of torch.load from elsewhere": used("torch.load('a.pt', **{})"),
    "code and names on the Chinese page": Append(
        PAGE, TWIN, text="\n- `torch.optim.Adam`\n\n## `No kernel image` {#k}\n"
    ),
    "a term that holds an avoided one": Append(TWIN, text="\n类别不平衡。\n"),
    "a term in code": Append(TWIN, text="\n变量叫 `accuracy`。\n"),
    "link to what is built": Append(
        PAGE, TWIN, text="\n[1](../apis.md) [2](#verified) [3](index.md)\n"
    ),
    "link to a heading of another page": Both(
        Append(PAGE, TWIN, text="\n## `a` {#a}\n\n[1](label-smoothing.md#a)\n")
    ),
    "described image": Both(
        Write("docs/zh/plot.svg", "<svg/>"),
        Append("docs/zh/index.md", text="\n![图](plot.svg)\n"),
    ),
}


@pytest.mark.parametrize("plant", SOUND.values(), ids=SOUND)
def test_what_is_in_order_is_not_refused(cookbook, plant):
    plant(cookbook)
    assert cookbook.problems() == []


def test_messages_are_chinese_where_the_locale_is(cookbook, monkeypatch):
    Append(TWIN, text="\n这是过度拟合。\n")(cookbook)
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
    faults = [*FAULTS.values(), *FILE_FAULTS.values(), *TREE_FAULTS.values()]
    faults += [*test_structure.FAULTS.values(), *test_structure.WARNINGS.values()]
    faults += test_records.FAULTS.values()
    messages = "\n".join(text for _, *texts in faults for text in texts)
    codes = set(re.findall(r"\b[A-Z]\d{3}\b", messages))
    # In test_structure.py, test_records.py and test_mutation.py.
    codes |= {"P408", "R108", "S309", "S310"}
    return codes | set(re.findall(r"\bP\d{3}\b", inspect.getsource(test_shown)))


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
    "no docstring": ("x = 1", "1:1: D100"),
    "function without docstring": ("def double(x):\n    return 2 * x", "3:5: D103"),
    "class without docstring": ("class Doubled:\n    x = 2", "3:7: D101"),
    "80 columns": (f'x = "{"x" * 74}"', "3:80: E501"),
    "trailing space": ("x = 1 ", "3:6: W291"),
    "trailing space in a string": ('x = """\n1 \n"""', "4:2: W291"),
    "text that runs backwards": ('x = "\u202e1"', "3:1: PLE2502"),
    "a letter of another script": ("\u0435 = 1", "3:1: PLC2401"),
    "deprecated function": (
        "import torch\n\ntorch.norm(torch.ones(2))",
        "`torch.norm` is banned: deprecated or gone: use torch.linalg.vector_norm",
    ),
    "deprecated under another name": (
        "from torch.cuda.amp import GradScaler as Scaler\n\nScaler()",
        "`torch.cuda.amp.GradScaler` is banned: deprecated or gone: use "
        "torch.amp.GradScaler",
    ),
    "deprecated in a module": (
        "from torch.ao import quantization\n\nquantization.quantize_dynamic(1)",
        "`torch.ao.quantization.quantize_dynamic` is banned",
    ),
    "urllib": (
        'from urllib.request import urlopen\n\nurlopen("https://a.org")',
        "`urllib.request` is banned: needs the network: make the data in the snippet",
    ),
    "socket": (
        'import socket\n\nsocket.create_connection(("a.org", 80))',
        "`socket.create_connection` is banned: needs the network",
    ),
    "torch.hub": (
        'import torch\n\ntorch.hub.load("pytorch/vision", "resnet18")',
        "`torch.hub` is banned: needs the network",
    ),
}


@pytest.mark.parametrize("name", RUFF_FAULTS)
def test_ruff_refuses_what_it_has_a_rule_for(name):
    code, expected = RUFF_FAULTS[name]
    source = code if name == "no docstring" else f'"""A snippet."""\n\n{code}'
    place = ["--stdin-filename", "snippets/training/planted.py", "-"]
    done = subprocess.run(
        [lint.BIN / "ruff", *lint.CHECK, *place],
        input=f"{source}\n",
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert expected in done.stdout


def resolve(name: str):
    """The object of a dotted name; None where there is none."""
    parts = name.split(".")
    with warnings.catch_warnings(action="ignore"):
        for count in range(len(parts), 0, -1):
            try:
                found = importlib.import_module(".".join(parts[:count]))
            except ImportError:
                continue
            for part in parts[count:]:
                found = getattr(found, part, None)
            return found
    return None


# Deprecated by their own pages of the documentation, not in the code.
BY_DOCUMENTATION = {"torch.autograd.Variable"}


SETTINGS = tomllib.loads((ROOT / "snippets/ruff.toml").read_text("utf-8"))
BANNED = SETTINGS["lint"]["flake8-tidy-imports"]["banned-api"]
# Each deprecated name, and what is recommended instead.
DEPRECATED = {
    name: ban["msg"].split()[-1]
    for name, ban in BANNED.items()
    if ban["msg"].startswith("deprecated")
}


@pytest.mark.parametrize("name", DEPRECATED)
def test_torch_itself_says_that_a_name_is_deprecated(name):
    found = resolve(name)
    if found is None or name in BY_DOCUMENTATION:
        return
    with warnings.catch_warnings(record=True, action="always") as caught:
        resolve_loudly(name)
    said = [str(warning.message) for warning in caught]
    said += [inspect.getdoc(found) or "", str(getattr(found, "__deprecated__", ""))]
    with contextlib.suppress(TypeError):  # written in C++
        said.append(inspect.getsource(found))
    assert re.search("deprecated|FutureWarning", "\n".join(said), re.IGNORECASE)


def resolve_loudly(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    if module:
        getattr(importlib.import_module(module), attribute, None)


@pytest.mark.parametrize("name", sorted(set(DEPRECATED.values())))
def test_what_is_recommended_instead_exists(name):
    if not name.startswith("torchao."):  # a package of its own
        assert resolve(name) is not None


def test_the_glossary_is_sound():
    terms = prose_checks.glossary(ROOT)
    preferred = [term.zh for term in terms]
    avoided = [word for term in terms for word in term.avoid]
    assert len(terms) >= 60
    for words in ([term.en for term in terms], preferred, avoided):
        assert all(words)
        assert len(words) == len(set(words))
    assert not set(avoided) & set(preferred)
    # An avoided word inside another term would be found wherever that one stands.
    for term in terms:
        for word in term.avoid:
            assert not any(word in other for other in preferred if other != term.zh)


def test_the_repository_is_in_order():
    catalogue = Catalogue(ROOT)
    found = file_checks.problems(ROOT, file_checks.files(ROOT))
    assert [str(problem) for problem in found] == []
    pages = [*catalogue.pages, *catalogue.other_pages]
    assert [str(problem) for problem in prose_checks.problems(ROOT, pages)] == []
