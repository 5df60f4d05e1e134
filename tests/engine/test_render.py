"""What the site makes of a page's source: its Markdown twin, and its marks."""

import hashlib
import json
import re

import markdown
import pytest

from cookbook.book.catalogue import Catalogue
from cookbook.site.render import full_markdown, site_markdown
from cookbook.site.typesetting import finished
from cookbook.site.words import WORDS
from tests.engine.plants import OUTPUT

SLUG = "label-smoothing"
FENCED = re.compile(r"^```(\S+).*\n([\s\S]*?)^```$", re.MULTILINE)


def test_both_languages_of_a_string_leave_the_same_places_open():
    for name, english in WORDS["en"].items():
        places = [
            sorted(set(re.findall(r"\{\w*\}", str(text))))
            for text in (english, WORDS["zh"][name])
        ]
        assert places[0] == places[1], name
        assert type(english) is type(WORDS["zh"][name])


def test_a_bar_in_the_code_of_a_table_is_a_bar():
    html = markdown.markdown(
        "| a | b |\n| - | - |\n| `x \\| y` | c |", extensions=["tables"]
    )
    assert "<code>x | y</code>" in finished(html, None, "en")


def twin(cookbook) -> str:
    catalogue = Catalogue(cookbook.root)
    return full_markdown(catalogue, catalogue.by_slug[SLUG].pages["en"])


SHELL = """echo "n=${#arr[@]}"
awk '{ .5 }' a; echo { .b }



cat '](../verified.md)'
"""


def test_code_and_outputs_stand_in_the_twin_byte_for_byte(cookbook):
    source = '"""Print."""\n\n\nprint({1: "{ #a }"})\n\n\n\nprint("{ .b }")\n'
    printed = "{1: '{ #a }'}\n\n\n\n\n{ .b }\n"
    cookbook.recipe(SLUG, source, after=f"\n```bash\n{SHELL}```\n")
    cookbook.write(OUTPUT, printed)
    _, *shown = FENCED.findall(twin(cookbook))
    assert shown == [("python", source), ("text", printed), ("bash", SHELL)]
    snippet = Catalogue(cookbook.root).by_slug[SLUG].snippets[0]
    assert hashlib.sha256(source.encode()).hexdigest() == snippet.sha256


def test_prose_of_the_twin_has_no_attributes_and_no_gaps(cookbook):
    after = "\n## Why { #why }\n\n### How {#how}\n\nWrite `${#arr[@]}`.\n"
    cookbook.recipe(SLUG, cookbook.CLAIM, after=after)
    text = twin(cookbook)
    assert text.startswith("# The label-smoothing\n\n> This page")
    assert (
        "\n\nUse it always.\n\nCPU: not yet run\n\n"
        "```python\nassert 1 + 1 == 2\n```\n\n```python"
    ) in text
    assert "\n## Why\n\n### How\n\nWrite `${#arr[@]}`.\n" in text
    assert "\n\n\n" not in text


def marked(mark: str, code: str) -> str:
    return f"\n<!--pytest.mark.{mark}-->\n```bash\n{code}\n```\n"


def test_each_marked_block_has_its_own_reason(cookbook):
    after = marked("gpu", "nvidia-smi") + marked('skip(reason="it resets")', "reset")
    after += marked('skip(reason="it asks")', "passwd") + "\n```bash\nls\n```\n"
    cookbook.recipe(SLUG, cookbook.CLAIM, after=after)
    catalogue = Catalogue(cookbook.root)
    text = site_markdown(catalogue, catalogue.by_slug[SLUG].pages["en"])
    shown = re.findall(r"^(.*)\n\{ \.mark .*\}\n\n```bash\n(.*)$", text, re.MULTILINE)
    assert shown == [
        ("Needs a GPU | GPU: not yet run", "nvidia-smi"),
        ("Not run: it resets", "reset"),
        ("Not run: it asks", "passwd"),
    ]
    assert "pytest.mark" not in text


TABLE = "| Cause | Fix |\n| --- | --- |\n| one | add one |\n"
ASK = "```bash\nls\n```\n\n"


@pytest.mark.parametrize(
    ("above", "comes_first"),
    [
        (f"```pytb\nValueError: | one |\n```\n\n{TABLE}\n", True),
        (f"{ASK}{TABLE}\n", False),
        ("## Which {#which}\n\n" + TABLE, False),
    ],
    ids=["below a message", "below code", "below a heading"],
)
def test_a_table_above_all_code_comes_before_the_answer(cookbook, above, comes_first):
    cookbook.recipe(SLUG, cookbook.CLAIM, before=above)
    catalogue = Catalogue(cookbook.root)
    text = site_markdown(catalogue, catalogue.by_slug[SLUG].pages["en"])
    wrapped = f'<div class="causes" markdown>\n\n{TABLE}\n</div>\n\n'
    assert (f'{wrapped}<div class="answer" markdown>' in text) == comes_first
    assert ('class="causes"' in text) == comes_first
    assert text.count('<div class="answer"') == text.count(TABLE) == 1
    plain = twin(cookbook)
    assert (f"{TABLE}\n```python\nassert" in plain) == comes_first
    assert "<div" not in plain


def test_what_was_measured_stands_below_the_answer(cookbook):
    cookbook.recipe(SLUG, cookbook.CLAIM)
    gain = {"slug": SLUG, "en": "a step", "zh": "一步", "speed": 2.5, "memory": 4.0}
    run = {"device": "H200", "cores": None, "torch": "2.15.0", "gains": [gain]}
    cookbook.write("verified/gains/h200.json", json.dumps(run))
    text = twin(cookbook)
    line = "- A step: **2.5 × as fast, 25 % of the memory** (H200, torch 2.15.0)"
    assert text.index("assert 1 + 1 == 2") < text.index(line)
    catalogue = Catalogue(cookbook.root)
    chinese = site_markdown(catalogue, catalogue.by_slug[SLUG].pages["zh"])
    assert "速度为原来的 2.5 倍，显存为原来的 25%**（H200, torch 2.15.0）" in chinese


def test_a_picture_comes_before_the_code_that_draws_it_which_unfolds(cookbook):
    include = '```python\n--8<-- "training/{}.py"\n```'
    cookbook.write("snippets/training/show_it.py", cookbook.CLAIM)
    for name in ("label_smoothing", "show_it"):
        cookbook.write(f"snippets/training/{name}.svg", f"<svg {name}/>")
    cookbook.recipe(SLUG, cookbook.CLAIM, after=f"\n{include.format('show_it')}\n")
    catalogue = Catalogue(cookbook.root)
    text = site_markdown(catalogue, catalogue.by_slug[SLUG].pages["en"])
    folded = (
        '<details class="drawing" markdown><summary>show_it.py</summary>\n\n```python'
    )
    assert text.count("<details") == 1
    places = [
        text.index(part)
        for part in (
            '```python title="label_smoothing.py"',  # the recipe itself stays open
            "label_smoothing/>",
            "show_it/>",
            folded,
            "</details>",
        )
    ]
    assert places == sorted(places)
    plain = twin(cookbook)
    assert "<details" not in plain
    assert "<svg" not in plain


def test_what_is_related_says_how(cookbook):
    for slug in ("warmup", "mixup", "other"):
        cookbook.recipe(slug, f'"""Print."""\n\nprint("{slug}")\n')
    page = "docs/en/training/label-smoothing.md"
    given = "related: [other, instead mixup, first warmup]"
    cookbook.replace(page, "related: []", given)
    kinds = re.findall(r"- (First|Instead|)(?:: )?\[", twin(cookbook))
    assert kinds == ["First", "Instead", ""]
