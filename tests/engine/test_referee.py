"""The referee finds what the site shows and pytest would not run."""

import pytest

PAGE = "docs/en/training/label-smoothing.md"
INCLUDE = '--8<-- "training/label_smoothing.py"'
COUNTS = (
    "P221 the site shows {} blocks of code and {} of text; {} and {} were collected"
)
FIX = "; write every block as a ``` fence at the left margin, outside comments, quotes"

# Markdown after the valid block, which ends on line 10; line 11 is empty.
FAULTS = {
    "~~~": ("~~~bash\nls\n~~~\n", 13, (2, 0, 1, 0)),
    "~~~ of text": ("~~~text\nwords\n~~~\n", 13, (1, 1, 1, 0)),
    "quote": ("> ```bash\n> ls\n> ```\n", 13, (2, 0, 1, 0)),
    "quoted include": (f"> ```python\n> {INCLUDE}\n> ```\n", 13, (2, 0, 1, 0)),
    "indented code": ("Words.\n\n    print(1)\n", 14, (1, 1, 1, 0)),
    "HTML": ("<pre>print(1)</pre>\n", 12, (2, 0, 1, 0)),
    "comment": ("<!--\n```bash\nls\n```\n-->\n", 13, (1, 0, 2, 0)),
    "Python in a comment": (
        f"<!--\n```python\n{INCLUDE}\n```\n-->\n",
        13,
        (1, 0, 2, 0),
    ),
}


@pytest.mark.parametrize(("markdown", "line", "counts"), FAULTS.values(), ids=FAULTS)
def test_a_block_shown_or_run_but_not_both_is_named(cookbook, markdown, line, counts):
    cookbook.recipe("label-smoothing", cookbook.CLAIM, after=f"\n{markdown}")
    found = cookbook.refereed("label-smoothing")
    assert found.startswith(f"{PAGE}:{line}: {COUNTS.format(*counts)}{FIX}")


def test_a_block_that_copies_otherwise_than_it_runs_is_named(cookbook):
    cookbook.recipe("label-smoothing", cookbook.CLAIM, after="\n```bash\nls\t-l\n```\n")
    found = cookbook.refereed("label-smoothing")
    assert found.startswith(
        f"{PAGE}:12: P222 shown otherwise than run; copying must yield"
    )
    assert "-ls\t-l\n+ls  -l\n" in found


SOUND = {
    "nothing more": "",
    "shell": "```bash\nls | wc\n```\n",
    "two alike": "```bash\nls\n```\n\nAgain:\n\n```bash\nls\n```\n",
    "error message": "```pytb\nIndexError: Target 10 is out of bounds.\n```\n",
    "inside an admonition": "!!! note\n\n    ```bash\n    ls\n    ```\n",
    "characters HTML escapes": '```bash\necho "<b>&amp;" > x && cat x # 标签\n```\n',
    "skipped": '<!--pytest.mark.skip(reason="it resets")-->\n```bash\nls\n```\n',
    "gpu": "<!--pytest.mark.gpu-->\n```bash\nnvidia-smi\n```\n",
}


@pytest.mark.parametrize("markdown", SOUND.values(), ids=SOUND)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_page_that_shows_what_runs_passes(cookbook, markdown, lang):
    cookbook.recipe("label-smoothing", cookbook.CLAIM, after=f"\n{markdown}")
    assert cookbook.refereed("label-smoothing", lang) is None


def test_recorded_output_is_shown_and_is_no_fault(cookbook):
    cookbook.recipe("label-smoothing", '"""Add."""\n\nprint(1 + 1)\n')
    cookbook.write("snippets/training/label_smoothing.out", "2\n")
    assert cookbook.refereed("label-smoothing") is None
