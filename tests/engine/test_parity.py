"""A page says so when its twin has moved on, and when nobody has written it."""

import re

import pytest

from cookbook.book.catalogue import Catalogue
from cookbook.checks.structure import confirm_parity
from cookbook.site.render import full_markdown, site_markdown
from tests.engine.plants import GPU, PAGE, TWIN, plant

SLUG = "label-smoothing"
REPOSITORY = "https://example.org/cookbook"
SECTION = "## `Why` {#why}\n\nBecause.\n"
SHELL = "```bash\nls\n```\n"


def confirm(cookbook, slug: str = SLUG) -> None:
    """Confirm a recipe's pages, as the command does."""
    catalogue = Catalogue(cookbook.root)
    assert confirm_parity(catalogue, [catalogue.by_slug[slug]]) == []


def pages(cookbook) -> str:
    return "".join((cookbook.root / path).read_text("utf-8") for path in (PAGE, TWIN))


def recipe(cookbook, repository: str = ""):
    return Catalogue(cookbook.root, repository).by_slug[SLUG]


def behind(cookbook) -> list[str]:
    return recipe(cookbook).behind


@pytest.fixture
def confirmed(cookbook):
    plant(cookbook, raises=f"training/{SLUG}")
    confirm(cookbook)
    assert behind(cookbook) == []
    return cookbook


# What a translator must follow, which pages are behind then; and what need not be.
CHANGES = {
    "the title": ({"en": ["title: ", "title: New "]}, ["zh"]),
    "the Chinese title": ({"zh": ["title: ", "title: New "]}, ["en"]),
    "the description": ({"en": ["it always", "it often"]}, ["zh"]),
    "the body": ({"mark": "Words.\n"}, ["zh"]),
    "a mark": ({"mark": GPU}, ["zh"]),
    "both pages": ({"both": "More."}, ["en", "zh"]),
    "aliases": ({"en": ["[label-smoothing]", "[smooth labels]"]}, []),
    "facts of both languages": ({"head": "tags: [loss]"}, []),
    "line breaks": ({"en": ["---\n```python", "---\n\n\n```python"]}, []),
    "the shared snippet": ({"py": ["1 + 1", "2 + 0"]}, []),
}


@pytest.mark.parametrize(("changes", "late"), CHANGES.values(), ids=CHANGES)
def test_the_twin_of_a_changed_page_is_behind(confirmed, changes, late):
    plant(confirmed, **changes)
    assert behind(confirmed) == late


def test_confirming_changes_one_line_of_each_page(cookbook):
    assert behind(cookbook) == recipe(cookbook).as_json()["behind"] == ["en", "zh"]
    before = pages(cookbook)
    for _ in range(2):
        done = cookbook.command("cookbook", "parity", SLUG)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == (f"confirmed: {PAGE} and {TWIN} say the same\n")
        after = pages(cookbook)
        assert len(re.findall(r'^parity: "[0-9a-f]{12}"\n', after, re.MULTILINE)) == 2
        assert re.sub(r"^parity: .*\n", "", after, flags=re.MULTILINE) == before
    assert behind(cookbook) == cookbook.warnings() == []


ERROR = "```pytb\nKeyError: 1\n```\n"
LINK = "[paper](https://example.org/paper)\n"


@pytest.mark.parametrize("path", [PAGE, TWIN])
def test_a_change_of_structure_in_one_language_is_welcome(confirmed, path):
    plant(confirmed, **{path: f"{SECTION}\n{ERROR}\n{LINK}"})
    assert confirmed.problems() == []
    (warning,) = confirmed.warnings()
    other = TWIN if path == PAGE else PAGE
    assert warning.startswith(f"{other}:{5 if other == TWIN else 7}: T107 {path} has")
    assert warning.endswith(f", then run python -m cookbook parity {SLUG}")


@pytest.mark.parametrize("path", [PAGE, TWIN])
def test_a_change_of_words_in_one_language_keeps_the_shared_blocks(confirmed, path):
    plant(confirmed, **{path: SHELL})
    (problem,) = confirmed.problems()
    assert problem.startswith(f"{TWIN}:{13 if path == TWIN else 1}: T102 blocks differ")


def test_a_change_of_structure_in_both_languages_must_be_the_same(confirmed):
    other = f"{SECTION.replace('why', 'how')}\n{ERROR}"
    plant(confirmed, en=SECTION, zh=other)
    first, second = confirmed.problems()
    assert " T103 heading ids differ" in first + second
    assert " T104 the ```pytb blocks differ" in first + second


@pytest.mark.parametrize("text", [SECTION, SHELL])
def test_pages_that_differ_in_structure_can_not_be_confirmed(confirmed, text):
    plant(confirmed, en=text)
    before = pages(confirmed)
    done = confirmed.command("cookbook", "parity", SLUG)
    assert done.returncode == 1
    assert re.match(rf"{TWIN}:\d+: T10[2-5] ", done.stdout)
    assert pages(confirmed) == before


def test_what_is_wrong_with_a_page_comes_before_confirming_it(cookbook):
    plant(cookbook, zh="TODO：常见的坑")
    done = cookbook.command("cookbook", "parity", SLUG)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith(f"{TWIN}:12: F103 left undone: TODO：常见的坑; ")
    assert "\nparity:" not in pages(cookbook)


def notices(cookbook) -> dict[str, str]:
    """What the Markdown of each page says of its twin."""
    catalogue = Catalogue(cookbook.root, REPOSITORY)
    texts = {
        lang: site_markdown(catalogue, page) + full_markdown(catalogue, page)
        for lang, page in catalogue.by_slug[SLUG].pages.items()
    }
    said = r".*(?:has not been checked against|尚未对照).*"
    return {lang: "\n".join(re.findall(said, text)) for lang, text in texts.items()}


def test_the_notice_comes_and_goes_in_the_language_of_its_page(confirmed):
    assert notices(confirmed) == {"en": "", "zh": ""}
    confirmed.replace(PAGE, "it always", "it often")
    link = f'<a data-twin hreflang="en" href="../../../en/training/{SLUG}/">英文页</a>'
    text = "本页尚未对照最新的{}核对，内容可能已经过时。"
    text += f"[查看英文页的改动]({REPOSITORY}/commits/HEAD/{PAGE})"
    twin = f"[英文页](../../en/training/{SLUG}.md)"
    shown = f"{text.format(link)}\n> {text.format(twin)}"
    assert notices(confirmed) == {"en": "", "zh": shown}
    confirm(confirmed)
    assert notices(confirmed) == {"en": "", "zh": ""}


# A recipe in one language


@pytest.mark.parametrize(
    ("gone", "lang", "title"),
    [
        (TWIN, "zh", "The label-smoothing（英文）"),
        (PAGE, "en", "条目 label-smoothing (in Chinese)"),
    ],
)
def test_a_stub_has_the_code_of_the_page_there_is(cookbook, gone, lang, title):
    marked = '<!--pytest.mark.skip(reason="it resets")-->\n```bash\nreset\n```\n'
    for path in (PAGE, TWIN):
        cookbook.replace(path, "```python", "<!--pytest.mark.gpu-->\n```python")
        plant(cookbook, **{path: f"{SECTION}\n{marked}"})
    (cookbook.root / gone).unlink()
    found = recipe(cookbook)
    stub = found.pages[lang]
    (page,) = found.written.values()
    assert [block.identity for block in stub.blocks] == [
        block.identity for block in page.blocks
    ]
    assert stub.blocks[1].reason == "it resets"
    assert stub.headings == []
    assert "Because" not in stub.source
    assert found.title(lang) == title
    assert (found.missing, found.behind) == ([lang], [])


def test_one_page_can_not_be_confirmed(confirmed):
    (confirmed.root / TWIN).unlink()
    done = confirmed.command("cookbook", "parity", SLUG)
    assert done.returncode == 1
    assert f"{PAGE}:1: T106 nobody has written this recipe" in done.stdout


def test_a_recipe_in_chinese_alone_can_be_related_to(confirmed):
    confirmed.recipe("other", '"""Add."""\n\nassert 1 + 1 == 2\n')
    confirmed.replace("docs/en/training/other.md", "related: []", f"related: [{SLUG}]")
    (confirmed.root / PAGE).unlink()
    shared = "related: []\nanswer: assert 1 + 1 == 2\naliases:"
    confirmed.replace(TWIN, "aliases:", shared)
    assert confirmed.problems() == []
