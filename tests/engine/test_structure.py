"""Every fault of a page or snippet is named: file, line, what, and the remedy.

These are the checks that ``mkdocs build``, ``make check`` and pytest share.
"""

import re
from pathlib import Path

import pytest

from cookbook.catalogue import Catalogue
from cookbook.pages import Page
from cookbook.parity import confirm
from tests.engine.conftest import TEST as TESTS
from tests.engine.plants import (
    BLOCK,
    EXPECT,
    EXPECTED,
    INCLUDE,
    OPEN,
    PAGE,
    SNIPPET,
    TEST,
    TWIN,
    Append,
    Both,
    Change,
    Encode,
    Move,
    Remove,
    Write,
    coded,
    headed,
    included,
    marked,
    opened,
)
from tests.helpers import ROOT

ALIASES = "aliases:\n  - label-smoothing\n"  # on lines 4 and 5
LIKE_PAGE = f"show the same blocks with the same marks as {PAGE}, in that order"
CONFIRM = "python -m cookbook parity label-smoothing"
SAME_IDS = f"use the heading ids of {PAGE}, in that order"
LISTS, MOVED = "docs/categories.yml", "docs/moved.yml"
LISTED = "    - label-smoothing\n"
LINE = 6 + [
    line
    for line in (ROOT / LISTS).read_text("utf-8").splitlines()
    if not re.match(r"  (?!en:|zh:)", line)
].index("- slug: training")
WRONG_LIST = (
    "is no recipe of training, or is listed twice; list each recipe once, in the "
    "category whose folder holds its pages"
)
NO_SLUG = "Label_Smoothing.md is no slug; name the file in lower-case words joined by -"
TWO_CALLED = "two recipes are called label-smoothing; rename one"
NOT_LISTED = "add - {0} to one in docs/categories.yml, where a reader would look for it"
NOT_A_LIST = (
    "the list is not YAML of the form old: new; write <category>/<slug>: "
    "<category>/<slug> on each line"
)
NOT_UTF8 = (
    "is not UTF-8, or begins with a byte-order mark; save it as UTF-8 without one"
)
OFFLINE = (
    "needs the network; a block runs without; say it in the text, or put "
    '<!--pytest.mark.skip(reason="…")--> on the line before the block'
)
NOT_RUN = "would be shown but not run"
NOT_PLAIN = (
    "begins a block that would be shown but not run; write every block as a ``` fence "
    "at the left margin, outside quotes and lists"
)
WHOLE_FILE = 'write --8<-- "<category>/<file>.py", a whole file below snippets/'
ANSWER = 'answer: "assert 1 + 1 == 2"\n'  # on line 6 of the English page
NO_ANSWER = (
    "no answer; write answer: | and below it the one to eight lines of the page's code "
    "that the reader came for"
)
SHAPE = (
    "proof belongs in tests/, a whole program says shape: program in the front matter"
)
GPU = "<!--pytest.mark.gpu-->\n"
OTHER = "docs/en/training/other.md"
FUNCTION = 'def f():\n    """Do."""\n    return 1\n'
UNRAISED = "tests/unraised.toml"
NOT_RAISED = (
    f"{PAGE}:12: S305 no test raises KeyError: 1; in {TEST}, put the line that raises "
    'it under with raises_as_documented(PAGE, "…"), or say in '
    f"{UNRAISED} why nothing can raise it here"
)
PICTURE, TOLD = SNIPPET.replace(".py", ".svg"), "alt: {label_smoothing: A line}\n"
NO_ALT = (
    "alt does not tell of each picture of the page (label_smoothing), or tells of "
    "another; write alt: and below it, for each picture, its name, a colon and what "
    "it shows"
)
UNRAISED_ENTRY = """
# Messages
[[message]]
page = "training/label-smoothing"
start = "{}"
reason = "{}"
"""[1:]
QUOTE = "\n```pytb\nKeyError: 1\n```\n"
QUOTED = Append(PAGE, TWIN, text=QUOTE)
PITFALLS = "\n## `x` {{#pitfalls}}\n\n{}"
PITFALL = "### `x` {{#{0}}}\n"
KNOWN_FENCES = "write ```python, ```bash, ```text or ```pytb and nothing else"


def other_recipe(old: str, new: str):
    """A second recipe, with a change to its English page."""

    def plant(cookbook) -> None:
        cookbook.recipe("other", cookbook.CLAIM)
        cookbook.replace(OTHER, old, new)

    return plant


def raised_for_another_page(cookbook) -> None:
    """Two recipes that quote one message; a test raises it for the other one."""
    QUOTED(cookbook)
    cookbook.recipe("other", cookbook.CLAIM, after=QUOTE)
    EXPECTED(cookbook)
    cookbook.replace(TEST, '"training/label-smoothing"', '"training/other"')


def taken(by: str) -> str:
    return (
        f"title or aliases of other recipes, too, {by}:2; choose words that lead to "
        "this recipe alone; at most 4 aliases may be shared, a title never"
    )


def confirmed(cookbook) -> None:
    """Confirm that the two pages are in line."""
    confirm(*(Page.load(cookbook.root, Path(path)) for path in (PAGE, TWIN)))


FAULTS = {
    # What a page includes
    "misspelt path": (
        included('--8<-- "training/label_smothing.py"'),
        f"{PAGE}:9: P203 no snippet training/label_smothing.py; {WHOLE_FILE}",
    ),
    "misspelt marker that MkDocs expands": (
        included(INCLUDE.strip().replace("--8<--", "--8<-")),
        f'{PAGE}:9: P202 not an include: --8<- "training/label_smoothing.py"; '
        f"{WHOLE_FILE}",
    ),
    "misspelt marker that MkDocs leaves": (
        included(INCLUDE.strip().replace("--8<--", "--8<")),
        f"{PAGE}:8: P204 Python typed into a page; put it into a file and "
        'write only --8<-- "<category>/<file>.py"',
    ),
    "other quotes": (
        included("--8<-- 'training/label_smoothing.py'"),
        f"{PAGE}:9: P202 not an include: --8<-- "
        f"'training/label_smoothing.py'; {WHOLE_FILE}",
    ),
    "part of a snippet": (
        included('--8<-- "training/label_smoothing.py:1:2"'),
        f"{PAGE}:9: P203 no snippet training/label_smoothing.py:1:2; {WHOLE_FILE}",
    ),
    "folder": (
        included('--8<-- "training"'),
        f"{PAGE}:9: P203 no snippet training; {WHOLE_FILE}",
    ),
    "file outside snippets": (
        included('--8<-- "../conftest.py"'),
        f'{PAGE}:9: P202 not an include: --8<-- "../conftest.py"; {WHOLE_FILE}',
    ),
    "several files at once": (
        included("--8<--\ntraining/label_smoothing.py\n--8<--"),
        f"{PAGE}:9: P202 not an include: --8<--; {WHOLE_FILE}",
    ),
    "include in prose": (
        Append(PAGE, text=f"\n{INCLUDE}"),
        f"{PAGE}:12: P205 an include outside a ```python block; include "
        "snippets there alone; their output follows by itself",
    ),
    "include in a text block": (
        Append(PAGE, text=f"\n```text\n{INCLUDE}```\n"),
        f"{PAGE}:13: P205 an include outside a ```python block; include "
        "snippets there alone; their output follows by itself",
    ),
    # Fences that would be shown and not run
    **{
        f"```{fence}": (
            opened(f"```{fence}"),
            f"{PAGE}:8: P206 a block of ```{fence} {NOT_RUN}; {KNOWN_FENCES}",
        )
        for fence in (
            "py",
            "Python",
            'python title="a.py"',
            'python hl_lines="1"',
            "{ .python }",
            "console",
            "",
        )
    },
    "~~~ around an include": (
        Change(PAGE, old=BLOCK, new=f"~~~python\n{INCLUDE}~~~\n"),
        f"{PAGE}:8: P210 ~~~python {NOT_PLAIN}",
        f"{PAGE}:9: P205 an include outside a ```python block; include "
        "snippets there alone; their output follows by itself",
    ),
    "longer fence": (
        Change(PAGE, old=BLOCK, new=f"`{OPEN}{INCLUDE}````\n"),
        f"{PAGE}:8: P210 ````python {NOT_PLAIN}",
        f"{PAGE}:9: P205 an include outside a ```python block; include "
        "snippets there alone; their output follows by itself",
    ),
    "block in a list": (
        Change(PAGE, old=BLOCK, new=f"- a\n\n    {OPEN}    {INCLUDE}    ```\n"),
        f"{PAGE}:10: P210 ```python {NOT_PLAIN}",
        f"{PAGE}:11: P205 an include outside a ```python block; include "
        "snippets there alone; their output follows by itself",
    ),
    "fence left open": (
        Change(PAGE, old=BLOCK, new=f"{OPEN}{INCLUDE}"),
        f"{PAGE}:8: P207 a fence that is not closed; close it with ``` at the "
        "left margin",
    ),
    "Python typed in": (
        Append(PAGE, text=f"\n{OPEN}print(1)\n```\n"),
        f"{PAGE}:12: P204 Python typed into a page; put it into a file and "
        'write only --8<-- "<category>/<file>.py"',
    ),
    "Python typed below an include": (
        included(f"{INCLUDE}print(1)"),
        f"{PAGE}:8: P204 Python typed into a page; put it into a file and "
        'write only --8<-- "<category>/<file>.py"',
    ),
    "empty Python block": (
        Append(PAGE, text=f"\n{OPEN}```\n"),
        f"{PAGE}:12: P204 Python typed into a page; put it into a file and "
        'write only --8<-- "<category>/<file>.py"',
    ),
    "page without a block that runs": (
        Both(
            Change(PAGE, old='answer: "assert 1 + 1 == 2"\n', new="tags: []\n"),
            Change(PAGE, TWIN, old=BLOCK, new="```text\nls\n```\n"),
            Remove(SNIPPET),
        ),
        f"{PAGE}:1: P112 {NO_ANSWER}",
        (
            f"{PAGE}:1: P201 no block that runs; show a snippet: ```python with "
            '--8<-- "<category>/<file>.py"'
        ),
        (
            f"{TWIN}:1: P201 no block that runs; show a snippet: ```python with "
            '--8<-- "<category>/<file>.py"'
        ),
    ),
    # The answer and the shape
    "no answer": (
        Change(PAGE, old=ANSWER, new="tags: []\n"),
        f"{PAGE}:1: P112 {NO_ANSWER}",
    ),
    "an answer that says nothing": (
        Change(PAGE, old=ANSWER, new='answer: " "\n'),
        f"{PAGE}:6: P112 {NO_ANSWER}",
    ),
    "an answer of nine lines": (
        Both(
            coded("".join(f"x{n} = 0\n" for n in range(9))),
            Change(
                PAGE,
                old=ANSWER,
                new="answer: |\n" + "".join(f"  x{n} = 0\n" for n in range(9)),
            ),
        ),
        f"{PAGE}:6: P113 the answer has 9 lines; choose at most 8 of them",
    ),
    "an answer that has drifted": (
        Change(SNIPPET, old="1 + 1 == 2", new="2 + 1 == 3"),
        f"{PAGE}:6: P114 a line of the answer is not in the code, or not in this "
        "order: assert 1 + 1 == 2; copy the lines from the page's blocks, from top to "
        "bottom",
    ),
    "an answer in another order": (
        Both(
            coded("x = 1\ny = 2\n"),
            Change(PAGE, old=ANSWER, new="answer: |\n  y = 2\n  x = 1\n"),
        ),
        f"{PAGE}:6: P114 a line of the answer is not in the code, or not in this "
        "order: x = 1; copy the lines from the page's blocks, from top to bottom",
    ),
    "an answer that is half a statement": (
        Both(
            coded("x = [\n    1,\n]\n"),
            Change(PAGE, old=ANSWER, new='answer: "x = ["\n'),
        ),
        f"{PAGE}:6: P115 the answer by itself is no code ('[' was never closed); take "
        "whole statements; a loop with a line of its body",
    ),
    "an answer on both pages": (
        Change(TWIN, old="aliases:", new='answer: "1"\naliases:'),
        f"{TWIN}:4: P105 answer stands on the English page, for both languages; remove "
        "it here",
        f"{TWIN}:4: P114 a line of the answer is not in the code, or not in this "
        "order: 1; copy the lines from the page's blocks, from top to bottom",
    ),
    "unknown shape": (
        headed("shape: script"),
        f"{PAGE}:4: P116 unknown shape script; write shape: program, or leave it out: "
        "calls and helpers are recognised",
    ),
    "a call of 26 lines": (
        coded("".join(f"x{number} = 0\n" for number in range(23))),
        f"{SNIPPET}:26: S101 26 lines, in the shape of a call; cut it to 25; {SHAPE}",
    ),
    "a helper of 46 lines": (
        coded(f"\n\n{FUNCTION}" + "".join(f"x{n} = 0\n" for n in range(38))),
        f"{SNIPPET}:46: S101 46 lines, in the shape of a helper; cut it to 45; {SHAPE}",
    ),
    "a program of 61 lines": (
        Both(
            coded("".join(f"x{number} = 0\n" for number in range(58))),
            headed("shape: program"),
        ),
        f"{SNIPPET}:61: S101 61 lines, in the shape of a program; cut it to 60; "
        f"{SHAPE}",
    ),
    "an empty message": (
        Append(PAGE, TWIN, text="\n```pytb\n```\n"),
        *(
            f"{page}:12: P215 a message that says nothing; quote it word for word, as "
            "Type: text"
            for page in (PAGE, TWIN)
        ),
    ),
    # Pitfalls
    "six pitfalls": (
        Append(
            PAGE, TWIN, text=PITFALLS.format("".join(map(PITFALL.format, "abcdef")))
        ),
        *(
            f"{page}:19: P309 6 pitfalls; keep the 5 that readers meet most often, and "
            "put other messages into the table under ## Other messages {#messages}"
            for page in (PAGE, TWIN)
        ),
    ),
    "a pitfall that names a topic": (
        Both(
            Append(PAGE, text=PITFALLS.format("### Memory use {#a}\n")),
            Append(TWIN, text=PITFALLS.format("### 显存 {#a}\n")),
        ),
        *(
            f'{page}:14: P310 the heading "{text}" says nothing that a reader sees; '
            "head a pitfall by the message, or by what happens"
            for page, text in ((PAGE, "Memory use"), (TWIN, "显存"))
        ),
    ),
    "block on a home page": (
        Append("docs/en/index.md", text="```python\nprint(1)\n"),
        "docs/en/index.md:8: P208 a code block outside a recipe would be "
        "shown but not run; move it to a recipe's page",
    ),
    "page in a deeper folder": (
        Write("docs/en/training/deep/page.md", "# A page\n"),
        "docs/en/training/deep/page.md:1: P404 a page that no recipe is; "
        "move it to docs/<lang>/<category>/<slug>.md",
    ),
    "page of another suffix": (
        Write("docs/zh/training/page.markdown", "# A page\n"),
        "docs/zh/training/page.markdown:1: P404 a page that no recipe is; "
        "move it to docs/<lang>/<category>/<slug>.md",
    ),
    "Python in a text block": (
        Append(PAGE, TWIN, text="\n```text\nimport torch\n\ntorch.ones(2)\n```\n"),
        *[
            f"{path}:12: P209 Python in a block of ```text would be shown but not run; "
            "put it into a file and include that; text is for output and messages"
            for path in (PAGE, TWIN)
        ],
    ),
    # Marks
    **{
        f"<!--{mark}-->": (
            marked(f"<!--{mark}-->"),
            f"{PAGE}:8: P211 unknown mark {mark}; write <!--pytest.mark.gpu--> or "
            '<!--pytest.mark.skip(reason="…")-->, or remove it',
        )
        for mark in (
            "pytest.mark.slow",
            "pytest.mark.skipif(True, reason='slow')",
            "pytest.mark.skip",
            'pytest.mark.skip(reason="")',
            "pytest-codeblocks:cont",
            "pytest-codeblocks:expected-output",
            "pytest-codeblocks:skip",
            "pytest-codeblocks:skipif(1)",
            "pytest-codeblocks:skipfile",
        )
    },
    "gpu mark on code for a CPU": (
        Both(
            Change(PAGE, TWIN, old=OPEN, new=f"{GPU}{OPEN}"),
            Append(PAGE, TWIN, text=f"\n{GPU}```bash\nls\n```\n"),
        ),
        *(
            f"{path}:{line}: P216 marked gpu, and the code names no GPU; remove the "
            "mark; only a block that names cuda, a GPU's API or nvidia-smi may be left "
            "to GPU runs"
            for path, line in ((PAGE, 8), (PAGE, 13), (TWIN, 8), (TWIN, 13))
        ),
    ),
    **{
        f"skipped without a cause: {fence} {reason}": (
            Change(
                PAGE,
                TWIN,
                old=BLOCK,
                new=f'{BLOCK}\n<!--pytest.mark.skip(reason="{reason}")-->\n{code}',
            ),
            *(
                f"{path}:12: P217 a block is skipped without a cause; make it run; "
                "only ```bash may be skipped, with a reason of three words or more"
                for path in (PAGE, TWIN)
            ),
        )
        for reason, fence, code in (
            ("x", "bash", "```bash\nls\n```\n"),
            ("too slow", "bash", "```bash\nls\n```\n"),
            ("it would take hours", "python", BLOCK),
        )
    },
    "output of a block that no GPU has run": (
        Both(
            coded('assert "cuda"\n'),
            Write(SNIPPET.replace(".py", ".out"), "900 times faster\n"),
            Change(PAGE, TWIN, old=OPEN, new=f"{GPU}{OPEN}"),
        ),
        f"{SNIPPET.replace('.py', '.out')}:1: S314 the output of a block for a GPU, "
        "which no GPU in verified/ has run; remove it, or record a run: pytest --gpu "
        "--verify docs",
    ),
    # The names by which a recipe is found
    "title of another recipe": (
        other_recipe("title: The other", "title: the Label-smoothing"),
        f"{PAGE}:4: P407 the label-smoothing: {taken(OTHER)}",
        f"{OTHER}:4: P407 the label-smoothing: {taken(PAGE)}",
    ),
    "alias that is the title of another recipe": (
        other_recipe("  - other\n", "  - The label-smoothing\n"),
        f"{PAGE}:4: P407 the label-smoothing: {taken(OTHER)}",
        f"{OTHER}:4: P407 the label-smoothing: {taken(PAGE)}",
    ),
    "aliases of another recipe": (
        Both(
            Change(PAGE, old=ALIASES, new=f"aliases: {list('abcde')}\n"),
            other_recipe("aliases:\n  - other\n", f"aliases: {list('ABCDE')}\n"),
        ),
        f"{PAGE}:4: P407 a, b, c, d, e: {taken(OTHER)}",
        f"{OTHER}:4: P407 a, b, c, d, e: {taken(PAGE)}",
    ),
    "mark that would leak to the next block": (
        marked("<!--pytest.mark.gpu-->\n\nProse.\n"),
        f"{PAGE}:8: P212 a mark that belongs to no block; put it on the line "
        "before the opening fence",
    ),
    "two marks": (
        marked("<!--pytest.mark.gpu-->\n<!--pytest.mark.gpu-->"),
        f"{PAGE}:8: P212 a mark that belongs to no block; put it on the line "
        "before the opening fence",
    ),
    "mark at the end of a page": (
        Append(PAGE, text="\n<!--pytest.mark.gpu-->\n"),
        f"{PAGE}:12: P212 a mark that belongs to no block; put it on the line "
        "before the opening fence",
    ),
    "mark on a block of text": (
        Append(PAGE, text="\n<!--pytest.mark.gpu-->\n```text\n1\n```\n"),
        f"{PAGE}:12: P213 a mark on a block of text; remove it; only "
        "```python and ```bash blocks run",
    ),
    # Headings
    "heading of level 1": (
        Append(PAGE, TWIN, text="\n# `Title` {#title}\n"),
        (
            f"{PAGE}:12: P301 a heading of level 1; remove it; the site shows the "
            "front matter's title"
        ),
        (
            f"{TWIN}:12: P301 a heading of level 1; remove it; the site shows the "
            "front matter's title"
        ),
    ),
    "heading without an id": (
        Append(PAGE, text="\n## Pitfalls\n"),
        f"{PAGE}:12: P302 a heading without an id; write ## Heading {{#id}}, "
        "the same id in both languages",
    ),
    "the same id twice": (
        Append(PAGE, text="\n## A {#a}\n\n## B {#a}\n"),
        f"{PAGE}:14: P303 the id a stands twice; choose another",
    ),
    # Front matter
    "no front matter": (
        Change(PAGE, old="---\ntitle", new="title"),
        f"{PAGE}:1: P101 no front matter; begin the page with title, "
        "description and aliases between ---",
    ),
    "front matter that is not YAML": (
        Change(PAGE, old="Use it", new="Use it: yes"),
        f"{PAGE}:3: P102 the front matter is not YAML (mapping values are not "
        "allowed here); quote values that hold a colon",
    ),
    "front matter that is a list": (
        Write(PAGE, f"---\n- title\n---\n\n{BLOCK}"),
        f"{PAGE}:1: P103 the front matter is not a mapping; begin the page "
        "with title, description and aliases between ---",
    ),
    "empty front matter": (
        Write(PAGE, f"---\n---\n\n{BLOCK}"),
        f"{PAGE}:1: P103 the front matter is not a mapping; begin the page "
        "with title, description and aliases between ---",
    ),
    "no title": (
        Change(PAGE, old="title: The label-smoothing\n", new=""),
        f"{PAGE}:1: P106 no title; write title: … in the front matter",
    ),
    "title that is a number": (
        Change(PAGE, old="The label-smoothing", new="42"),
        f"{PAGE}:2: P106 no title; write title: … in the front matter",
    ),
    "no description": (
        Change(PAGE, old="description: Use it always.\n", new=""),
        f"{PAGE}:1: P106 no description; write description: … in the front matter",
    ),
    "no aliases": (
        Change(PAGE, old=ALIASES, new=""),
        f"{PAGE}:1: P107 no aliases; list the words people search for, and "
        "the errors they paste",
    ),
    "alias with a colon": (
        Change(PAGE, old="- label-smoothing", new="- IndexError: Target 10"),
        f"{PAGE}:4: P108 aliases is not a list of words; write aliases: [a, "
        "b], in quotes where a word holds a colon",
    ),
    "unknown key": (
        headed("tag: [loss]"),
        f"{PAGE}:4: P104 unknown front matter key tag; remove it; known are title, "
        "description, aliases, alt, related, covers, tags, answer, shape, parity",
    ),
    "English fact on the Chinese page": (
        Change(TWIN, old="aliases:", new="related: []\naliases:"),
        f"{TWIN}:4: P105 related stands on the English page, for both "
        "languages; remove it here",
    ),
    "two English sentences": (
        Change(PAGE, old="it always", new="it. Always"),
        f"{PAGE}:3: P109 the description is not one sentence; say when to use "
        "it, and when not, in one sentence ending in .",
    ),
    "two Chinese sentences": (
        Change(TWIN, old="随时可用", new="随时可用。真的"),
        f"{TWIN}:3: P109 the description is not one sentence; say when to use "
        "it, and when not, in one sentence ending in 。",
    ),
    "sentence without an end": (
        Change(PAGE, old="it always.", new="it always"),
        f"{PAGE}:3: P109 the description is not one sentence; say when to use "
        "it, and when not, in one sentence ending in .",
    ),
    "related to no recipe": (
        headed("related: [nothing]"),
        f"{PAGE}:4: P110 related: no other recipe nothing; name an existing slug",
    ),
    "related to itself": (
        headed("related: [label-smoothing]"),
        f"{PAGE}:4: P110 related: no other recipe label-smoothing; name an "
        "existing slug",
    ),
    "covers what has a page": (
        headed("covers: [label-smoothing]"),
        f"{PAGE}:4: P111 covers: label-smoothing has a page; cover only tasks "
        "that have no page of their own",
    ),
    # Names
    "unknown category": (
        Move("trainings/label-smoothing.md"),
        f"{LISTS}:{LINE}: P406 label-smoothing {WRONG_LIST}",
        *[
            f"docs/{lang}/trainings/label-smoothing.md:1: P401 unknown category "
            "trainings; add it to docs/categories.yml, or move the page"
            for lang in ("en", "zh")
        ],
    ),
    "bad slug": (
        Move("training/Label_Smoothing.md"),
        f"{LISTS}:{LINE}: P406 label-smoothing {WRONG_LIST}",
        f"docs/en/training/Label_Smoothing.md:1: P402 {NO_SLUG}",
        "docs/en/training/Label_Smoothing.md:1: P405 Label_Smoothing is in no group of "
        f"training; {NOT_LISTED.format('Label_Smoothing')}",
        f"docs/zh/training/Label_Smoothing.md:1: P402 {NO_SLUG}",
    ),
    "the same slug twice": (
        Move("data/label-smoothing.md", keep=True),
        f"docs/en/data/label-smoothing.md:1: P403 {TWO_CALLED}",
        "docs/en/data/label-smoothing.md:1: P405 label-smoothing is in no group of "
        f"data; {NOT_LISTED.format('label-smoothing')}",
        f"{PAGE}:1: P403 {TWO_CALLED}",
    ),
    **{
        f"{command} in a block": (
            Append(PAGE, TWIN, text=f"\n```bash\nls\n{command} x\n```\n"),
            *[
                f"{page}:14: P214 {command.removeprefix('python -m ')} {OFFLINE}"
                for page in (PAGE, TWIN)
            ],
        )
        for command in (
            "curl",
            "wget",
            "git clone",
            "pip install",
            "python -m pip download",
        )
    },
    # Twins
    "missing home page": (
        Remove("docs/zh/index.md"),
        "docs/en/index.md:1: T101 no page in the other language; write "
        "docs/zh/index.md",
    ),
    "another block in the twin": (
        Append(TWIN, text="\n```bash\nls\n```\n"),
        f"{TWIN}:12: T102 blocks differ; {LIKE_PAGE}",
    ),
    "a block fewer in the twin": (
        Append(PAGE, text="\n```bash\nls\n```\n"),
        f"{TWIN}:1: T102 blocks differ; {LIKE_PAGE}",
    ),
    "other shell lines in the twin": (
        Both(
            Append(PAGE, text="\n```bash\nls\n```\n"),
            Append(TWIN, text="\n```bash\nls -l\n```\n"),
        ),
        f"{TWIN}:12: T102 blocks differ; {LIKE_PAGE}",
    ),
    "another mark in the twin": (
        Both(
            coded('device = "cuda"\n'),
            Change(TWIN, old=OPEN, new=f"<!--pytest.mark.gpu-->\n{OPEN}"),
        ),
        f"{TWIN}:9: T102 blocks differ; {LIKE_PAGE}",
    ),
    "another heading id in the twin": (
        Both(
            Append(PAGE, text="\n## Why {#why}\n"),
            Append(TWIN, text="\n## 原理 {#how}\n"),
        ),
        f"{TWIN}:12: T103 heading ids differ; {SAME_IDS}",
    ),
    "another heading level in the twin": (
        Both(
            Append(PAGE, text="\n## Why {#why}\n"),
            Append(TWIN, text="\n### 原理 {#why}\n"),
        ),
        f"{TWIN}:12: T103 heading ids differ; {SAME_IDS}",
    ),
    "another error message in the twin": (
        Both(
            Append(PAGE, text="\n```pytb\nKeyError: 1\n```\n"),
            Append(TWIN, text="\n```pytb\nKeyError: 2\n```\n"),
        ),
        NOT_RAISED,
        f"{TWIN}:12: T104 the ```pytb blocks differ; quote the same messages as {PAGE}",
    ),
    "another link in the twin": (
        Append(PAGE, text="\n[a paper](https://a.org)\n"),
        f"{TWIN}:1: T105 no link to https://a.org; link to it as {PAGE} does, "
        "or remove it there",
    ),
    # Snippets
    "snippet on no page": (
        Both(
            Write("snippets/training/other.py", '"""Add."""\n\nassert 1 + 1 == 2\n'),
            Write("tests/snippets/training/test_other.py", TESTS.format("other")),
        ),
        "snippets/training/other.py:1: S301 a snippet on no page; show it: "
        '```python with --8<-- "training/other.py"',
    ),
    "recorded output of no snippet": (
        Write("snippets/training/other.out", "2\n"),
        "snippets/training/other.out:1: S302 recorded output or picture of no snippet; "
        "remove it",
    ),
    "picture that nothing tells of": (
        Write(PICTURE, "<svg/>"),
        *(f"{path}:1: P117 {NO_ALT}" for path in (PAGE, TWIN)),
    ),
    "picture that weighs too much": (
        Both(
            Write(PICTURE, "".join(map(str, range(20_000)))),
            Change(PAGE, TWIN, old="aliases:", new=f"{TOLD}aliases:"),
        ),
        f"{PICTURE}:1: S315 the picture has 40 kB compressed, at most 6 are allowed; "
        "draw fewer points or pixels, then pytest --record",
    ),
    "fence inside a snippet": (
        coded('x = """\n```\n"""\n'),
        (
            f"{SNIPPET}:5: S105 ``` inside a snippet ends the block on the page; "
            "write it otherwise"
        ),
    ),
    "include inside a snippet": (
        coded('# --8<-- "training/label_smoothing.py"\n'),
        f"{SNIPPET}:4: S107 --8<-- inside a snippet would be expanded; write "
        "it otherwise",
    ),
    "section inside a snippet": (
        coded("# --8<-- [start:part]\n"),
        f"{SNIPPET}:4: S107 --8<-- inside a snippet would be expanded; write "
        "it otherwise",
    ),
    "no claim": (
        Change(SNIPPET, PAGE, old="assert 1 + 1 == 2", new="print(1 + 1)"),
        f"{SNIPPET}:1: S203 the snippet claims nothing; assert what it shows, "
        "or print it and record the output",
    ),
    "snippet that does not parse": (
        coded("x = (\n"),
        f"{SNIPPET}:4: S201 does not parse ('(' was never closed); make it "
        "run by itself",
    ),
    "snippet that hides a module": (
        Both(
            Write("snippets/training/logging.py", '"""Add."""\n\nassert 1 + 1 == 2\n'),
            Write("tests/snippets/training/test_logging.py", TESTS.format("logging")),
            Append(PAGE, TWIN, text='\n```python\n--8<-- "training/logging.py"\n```\n'),
        ),
        "snippets/training/logging.py:1: S211 logging is a module's name, which this "
        "file hides from its neighbours; give the file and its recipe a name of "
        "several words",
    ),
    "page that is not UTF-8": (
        Encode(TWIN, "gb18030"),
        f"{TWIN}:2: F104 {TWIN} {NOT_UTF8}",
    ),
    "page with a byte-order mark": (
        Encode(PAGE, "utf-8-sig"),
        f"{PAGE}:1: F104 {PAGE} {NOT_UTF8}",
    ),
    "snippet that is not UTF-8": (
        Both(coded("\nx = '标签'\n"), Encode(SNIPPET, "gb18030")),
        f"{PAGE}:9: F104 {SNIPPET} {NOT_UTF8}",
        f"{TWIN}:9: F104 {SNIPPET} {NOT_UTF8}",
        f"{SNIPPET}:5: F104 {SNIPPET} {NOT_UTF8}",
    ),
    # Messages
    "message that no test raises": (
        QUOTED,
        NOT_RAISED,
    ),
    "message that a test raises for another page": (
        raised_for_another_page,
        NOT_RAISED,
    ),
    "list of messages that is not TOML": (
        Write(UNRAISED, "[[message]]\npage = \n"),
        f"{UNRAISED}:1: S306 the list is not TOML, or an entry is not complete "
        "(Invalid value (at line 2, column 8)); write [[message]] and below it page, "
        "start (of the message) and reason",
    ),
    "message listed without a reason": (
        Write(UNRAISED, UNRAISED_ENTRY.format("KeyError: 1", "")),
        f"{UNRAISED}:1: S306 the list is not TOML, or an entry is not complete "
        "(line 2); write [[message]] and below it page, start (of the message) and "
        "reason",
    ),
    "message listed that is not quoted": (
        Both(
            QUOTED,
            EXPECTED,
            Write(UNRAISED, UNRAISED_ENTRY.format("KeyError: 2", "GPU")),
        ),
        f"{UNRAISED}:2: S307 training/label-smoothing does not quote one message that "
        "begins with KeyError: 2; correct the entry, or remove it",
    ),
    "message listed that a test raises": (
        Both(
            QUOTED,
            EXPECTED,
            Write(UNRAISED, UNRAISED_ENTRY.format("KeyError: 1", "GPU")),
        ),
        f"{UNRAISED}:2: S308 a test raises KeyError: 1; remove the entry",
    ),
    # Order and addresses
    "recipe that no group names": (
        Change(LISTS, old=LISTED, new=""),
        f"{PAGE}:1: P405 label-smoothing is in no group of training; "
        f"{NOT_LISTED.format('label-smoothing')}",
    ),
    "group that names no recipe of its category": (
        Change(LISTS, old=LISTED, new=f"{LISTED}    - one-hot\n"),
        f"{LISTS}:{LINE + 1}: P406 one-hot {WRONG_LIST}",
    ),
    "recipe listed twice": (
        Change(LISTS, old=LISTED, new=2 * LISTED),
        f"{LISTS}:{LINE + 1}: P406 label-smoothing {WRONG_LIST}",
    ),
    "list of old addresses that is not YAML": (
        Write(MOVED, "a: b: c\n"),
        f"{MOVED}:1: X101 {NOT_A_LIST}",
    ),
    "list of old addresses that is no mapping": (
        Write(MOVED, "- training/old\n"),
        f"{MOVED}:1: X101 {NOT_A_LIST}",
    ),
    "retired with a reason in one language": (
        Write(MOVED, "# Gone\ntraining/old:\n  to: training\n  en: Gone.\n"),
        f"{MOVED}:2: X102 an entry that is not complete; write <category>/<slug>: "
        "<category>/<slug>, or below it to:, and the reason under en: and zh:",
    ),
    "moved and still there": (
        Write(MOVED, "training/label-smoothing: training\n"),
        f"{MOVED}:1: X103 training/label-smoothing is a recipe's address; remove the "
        f"entry, or {PAGE}",
    ),
    "old address that leads nowhere": (
        Write(MOVED, "training/old: training/new\n"),
        f"{MOVED}:1: X104 no recipe or category training/new; write the "
        "<category>/<slug> of a recipe, or a category that has recipes",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_with_code_file_line_and_remedy(cookbook, name):
    plant, *expected = FAULTS[name]
    plant(cookbook)
    assert cookbook.problems() == expected


PARAMETER = '@pytest.mark.parametrize("start", ["KeyError: 1"])\n'


@pytest.mark.parametrize(
    "accounts",
    [
        EXPECTED,
        Append(TEST, text=EXPECT.format(PARAMETER, "start", "start")),
        Write(UNRAISED, UNRAISED_ENTRY.format("KeyError:", "needs a GPU")),
    ],
    ids=["raised", "a parameter", "listed"],
)
def test_a_message_is_accounted_for(cookbook, accounts):
    Both(QUOTED, accounts)(cookbook)
    assert cookbook.problems() == []


WARNINGS = {
    "missing Chinese twin": (
        Remove(TWIN),
        f"{PAGE}:1: T106 nobody has written this recipe in the other language yet; "
        f"write {TWIN}, with the same blocks and heading ids; until then the site "
        "shows the code there, and links here",
    ),
    "missing English twin": (
        Remove(PAGE),
        f"{TWIN}:1: T106 nobody has written this recipe in the other language yet; "
        f"write {PAGE}, with the same blocks and heading ids; until then the site "
        "shows the code there, and links here",
    ),
    "twin that has changed since": (
        Both(confirmed, Change(PAGE, old="it always", new="it often")),
        f"{TWIN}:6: T107 {PAGE} has changed since this page was last in line with "
        f"it; bring this page up to date, then run {CONFIRM}",
    ),
    "pages that nobody has compared": (
        Both(),
        f"{PAGE}:1: T108 nobody has confirmed that this page says the same as "
        f"{TWIN}; compare the two, then run {CONFIRM}",
        f"{TWIN}:1: T108 nobody has confirmed that this page says the same as "
        f"{PAGE}; compare the two, then run {CONFIRM}",
    ),
}


@pytest.mark.parametrize("name", WARNINGS)
def test_a_warning_is_given_and_nothing_refused(cookbook, name):
    plant, *expected = WARNINGS[name]
    plant(cookbook)
    assert cookbook.warnings() == expected
    assert cookbook.problems() == []


SOUND = {
    "nothing changed": Both(),
    **{
        f"gpu mark: {code}": Both(
            coded(f"{code}\n"), Change(PAGE, TWIN, old=OPEN, new=f"{GPU}{OPEN}")
        )
        for code in (
            'device = "cuda:0"',
            "import torch\n\ntorch.cuda.synchronize()",
            "from torch import accelerator",
            "from torch.cuda.amp import common",
            'backend = "cpu:gloo,cuda:nccl"',
            "print.cuda()",
        )
    },
    "gpu mark on shell lines": Append(
        PAGE,
        TWIN,
        text=f"\n{GPU}```bash\nnvidia-smi\n```\n\n{GPU}```bash\nnsys profile x\n```\n",
    ),
    "gpu mark on shell lines that run a snippet for a GPU": Both(
        coded('device = "cuda"\n'),
        Change(PAGE, TWIN, old=OPEN, new=f"{GPU}{OPEN}"),
        Append(PAGE, TWIN, text=f"\n{GPU}```bash\npython label_smoothing.py\n```\n"),
    ),
    "mark with spaces": Append(
        PAGE, TWIN, text="\n<!-- pytest.mark.gpu -->\n```bash\nnvidia-smi\n```\n"
    ),
    "four aliases that two recipes share": Both(
        Change(PAGE, old=ALIASES, new=f"aliases: {list('abcd')}\n"),
        other_recipe("aliases:\n  - other\n", f"aliases: {list('abcd')}\n"),
    ),
    "reasons in two languages": Both(
        Append(
            PAGE,
            text='\n<!--pytest.mark.skip(reason="it resets a GPU")-->\n```sh\na\n```\n',
        ),
        Append(
            TWIN, text='\n<!--pytest.mark.skip(reason="会重置")-->\n```sh\na\n```\n'
        ),
    ),
    "shell block": Append(PAGE, TWIN, text="\n```bash\nls\n```\n"),
    "network in a block that is not run, and in a comment": Append(
        PAGE,
        TWIN,
        text='\n<!--pytest.mark.skip(reason="needs the network")-->\n'
        "```bash\npip install x\n```\n\n```bash\nls  # curl\n```\n",
    ),
    "facts on the only page": Both(
        Remove(PAGE), Change(TWIN, old="aliases:", new="tags: [loss]\naliases:")
    ),
    "recipe that has moved": Write(
        MOVED, "data/label-smoothing: training/label-smoothing\n"
    ),
    "a printed claim": Both(
        Change(SNIPPET, PAGE, old="assert 1 + 1 == 2", new="print(1 + 1)"),
        Write(SNIPPET.replace(".py", ".out"), "2\n"),
    ),
    "a claim by assert_close": Change(
        SNIPPET, PAGE, old="assert 1 + 1 == 2", new="testing.assert_close(1 + 1, 2)"
    ),
    "a call of 25 lines": coded("".join(f"x{number} = 0\n" for number in range(22))),
    "a program of 60 lines": Both(
        coded("".join(f"x{number} = 0\n" for number in range(57))),
        headed("shape: program"),
    ),
    "an answer with its loop": Both(
        coded("for x in (1, 2):\n    x += 1\n    x += 2\n"),
        Change(PAGE, old=ANSWER, new="answer: |\n  for x in (1, 2):\n      x += 2\n"),
    ),
    "five pitfalls": Append(
        PAGE, TWIN, text=PITFALLS.format("".join(map(PITFALL.format, "abcde")))
    ),
    "79 columns": coded(f"x = '{'x' * 73}'\n"),
    "heading inside a block": Append(PAGE, TWIN, text="\n```bash\n# comment\n```\n"),
    "the words of a mark inside a block": Append(
        PAGE, TWIN, text="\n```text\npytest.mark.slow\n```\n"
    ),
}


@pytest.mark.parametrize("plant", SOUND.values(), ids=SOUND)
def test_what_is_in_order_is_not_refused(cookbook, plant):
    plant(cookbook)
    assert cookbook.problems() == []


def test_facts_stand_on_the_only_page(cookbook):
    SOUND["facts on the only page"](cookbook)
    (recipe,) = Catalogue(cookbook.root).recipes
    assert recipe.as_json()["tags"] == ["loss"]


def test_a_broken_page_does_not_hide_the_faults_of_others(cookbook):
    cookbook.recipe("other", '"""Add."""\n\nassert True\n')
    cookbook.replace("docs/en/training/other.md", "it always.", "it always")
    opened("```py")(cookbook)
    found = "\n".join(cookbook.problems())
    assert f"{PAGE}:8: P206 a block of ```py would be shown but not run" in found
    assert "docs/en/training/other.md:3: P109 the description is not one" in found


def test_check_prints_the_fault_and_fails(cookbook):
    opened("```py")(cookbook)
    done = cookbook.command("cookbook", "check")
    assert done.returncode == 1
    assert (
        f"{PAGE}:8: P206 a block of ```py would be shown but not run; " in done.stdout
    )
    assert "1 problem" in done.stdout


@pytest.mark.parametrize(
    ("text", "place"),
    [("- a: b: c\n", "1: P408 the list is not YAML"), ("- slug: data\n", "1: P408")],
)
def test_a_malformed_list_of_categories_is_named_by_every_command(
    cookbook, text, place
):
    cookbook.write(LISTS, text)
    for command in (["check"], ["new", "data/x"], ["find", "x"]):
        done = cookbook.command("cookbook", *command)
        assert done.returncode == 1
        assert done.stderr.startswith(f"{LISTS}:{place}")
