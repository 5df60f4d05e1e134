"""The referee finds what the site shows and nothing runs or reads."""

from copy import deepcopy

import pytest

from cookbook.catalogue import Catalogue
from cookbook.checks.shown import Referee

PAGE = "docs/en/training/label-smoothing.md"
FENCE = "write every block as a ``` fence at the left margin, outside quotes and lists"
# Markdown after the valid block, which ends on line 10; line 11 is empty.
BLOCKS = {
    "~~~": ("~~~bash\nls\n~~~\n", "~~~bash"),
    "~~~ of text": ("~~~text\nwords\n~~~\n", "~~~text"),
    "quote": ("> ```bash\n> ls\n> ```\n", "> ```bash"),
    "list": ("- ```bash\n  ls\n  ```\n", "- ```bash"),
    "indented code": ("    print(1)\n", "print(1)"),
    "inside an admonition": (
        "!!! note\n\n    ```bash\n    ls\n    ```\n",
        "```bash",
        14,
    ),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_that_would_be_shown_and_not_run_is_named(cookbook, name):
    markdown, text, *line = BLOCKS[name]
    cookbook.recipe("label-smoothing", cookbook.CLAIM, after=f"\n{markdown}")
    english, chinese = cookbook.problems(rendered=())
    assert english == (
        f"{PAGE}:{(*line, 12)[0]}: P210 {text} begins a block that would be shown but "
        f"not run; {FENCE}"
    )
    assert chinese == english.replace("docs/en", "docs/zh")


MARKDOWN = "write ## Heading {#id}, [text](target) or ![what it shows](file)"
NOT_SEEN = "which the checks do not see"
ONLY = "write Markdown, which is all that the checks read"
ELSEWHERE = (
    "would be loaded from another site; put the file below docs/ and name it relative "
    "to this page; only a link may lead elsewhere"
)
NOWHERE = (
    "P304 the link nowhere.md leads nowhere; link to a file that exists, relative to "
    "this one"
)
WORDS = {
    "heading above a line": (
        "More things\n-----------\n",
        f"P223 the site shows More things, {NOT_SEEN}; {MARKDOWN}",
    ),
    "heading without a space": (
        "##Title\n",
        f"P223 the site shows ##Title, {NOT_SEEN}; {MARKDOWN}",
    ),
    "link by reference": (
        "[a]: nowhere.md\n\n[a]\n",
        NOWHERE,
        14,
    ),
    "link with a title": (
        '[a](nowhere.md "b")\n',
        NOWHERE,
    ),
    "image from elsewhere": (
        "![a plot](https://evil.org/x.png)\n",
        f"P308 https://evil.org/x.png {ELSEWHERE}",
    ),
    "image from elsewhere, with this page's scheme": (
        "![a plot](//evil.org/x.png)\n",
        f"P308 //evil.org/x.png {ELSEWHERE}",
    ),
    "background from elsewhere": (
        'Words.\n{ style="background: url(https://evil.org/x.png)" }\n',
        f'P307 {{ style="background: url(https://evil.org/x.png)" }} is HTML; {ONLY}',
        13,
    ),
    "script on a tag": (
        "[a](https://a.org){ onclick=alert() }\n",
        f"P307 {{ onclick=alert() }} is HTML; {ONLY}",
    ),
    **{
        html: (f"{html}\n", f"P307 {html} is HTML; {ONLY}")
        for html in (
            '<h2 id="more">More</h2>',
            "<pre>print(1)</pre>",
            '<img src="plot.svg" alt="a">',
            '<script src="https://cdn.org/x.js"></script>',
            '<iframe src="https://cdn.org"></iframe>',
            '<link rel="stylesheet" href="https://cdn.org/x.css">',
            "<style></style>",
        )
    },
    "HTML within a line": (
        'See <a href="x/">a</a>\n',
        f'P307 <a href="x/"> is HTML; {ONLY}',
    ),
}


@pytest.mark.parametrize("name", WORDS)
def test_what_the_site_may_show_differently_is_named(cookbook, name):
    markdown, message, *line = WORDS[name]
    cookbook.recipe("label-smoothing", cookbook.CLAIM, after=f"\n{markdown}")
    assert f"{PAGE}:{(*line, 12)[0]}: {message}" in cookbook.problems(rendered=())


def test_pages_that_are_no_recipes_are_checked_too(cookbook):
    for path in ("docs/root/index.md", "docs/zh/index.md"):
        text = (cookbook.root / path).read_text("utf-8")
        cookbook.write(path, f"{text}\n![图](https://evil.org/x.png)\n")
    first, second = cookbook.problems()
    assert "docs/root/index.md:9: P308 https://evil.org/x.png would" in first
    assert "docs/zh/index.md:9: P308 https://evil.org/x.png would" in second


def test_a_block_that_copies_otherwise_than_it_runs_is_named(cookbook):
    cookbook.recipe("label-smoothing", cookbook.CLAIM, after="\n```bash\nls\t-l\n```\n")
    (found,) = cookbook.refereed("label-smoothing")
    assert found.startswith(
        f"{PAGE}:12: P222 shown otherwise than run; copying must yield"
    )
    assert "-ls\t-l\n+ls  -l\n" in found


# The referee renders the page; here the reader of the Markdown saw something else.
UNREAD = {
    "a block": (
        "```bash\nls\n```\n",
        "fences",
        "P221 the site shows 2 blocks, 1",
    ),
    "a heading": ("## More {#more}\n", "headings", "P223 the site shows <h2> more,"),
    "a link": ("[a](b.md)\n", "links", "P223 the site shows <a> b.md,"),
}


@pytest.mark.parametrize("name", UNREAD)
def test_the_referee_names_what_the_reader_did_not_see(cookbook, name):
    markdown, kind, message = UNREAD[name]
    cookbook.recipe("label-smoothing", cookbook.CLAIM, after=f"\n{markdown}")
    page = next(page for page in Catalogue(cookbook.root).pages if page.lang == "en")
    page.__dict__["document"] = document = deepcopy(page.document)  # it is cached
    del getattr(document, kind)[-1]
    found, *_ = Referee(cookbook.root).problems(page)
    assert str(found).startswith(f"{PAGE}:1: {message}")


def test_the_referee_names_html(cookbook):
    cookbook.recipe("label-smoothing", cookbook.CLAIM, after="\n<video></video>\n")
    (found,) = cookbook.refereed("label-smoothing")
    assert found == f"{PAGE}:1: P307 <video> is HTML; {ONLY}"


SOUND = {
    "nothing more": "",
    "shell": "```bash\nls | wc\n```\n",
    "two alike": "```bash\nls\n```\n\nAgain:\n\n```bash\nls\n```\n",
    "error message": "```pytb\nIndexError: Target 10 is out of bounds.\n```\n",
    "characters HTML escapes": '```bash\necho "<b>&amp;" > x && cat x # 标签\n```\n',
    "skipped": '<!--pytest.mark.skip(reason="it resets")-->\n```bash\nls\n```\n',
    "gpu": "<!--pytest.mark.gpu-->\n```bash\nnvidia-smi\n```\n",
    "headings": "## A `b` {#a}\n\n### C { #c }\n",
    "links": "[a](#title) [b](label-smoothing.md) <https://a.org> [c][1]\n\n"
    "[1]: https://b.org\n",
    "an address in the title of a link": '[a](https://a.org "see https://b.org")\n',
    "an image": "![a plot](plot.svg)\n",
    "an image in the page": "![a dot](data:image/gif;base64,R0lGODlh//8=)\n",
    "a table": "| a | b |\n| - | :-: |\n| 1 | <2 |\n",
    "HTML in code": "`<script>` and `<h2>`\n",
    "hidden in a comment": "<!--\n```bash\nls\n```\n-->\n",
}


@pytest.mark.parametrize("markdown", SOUND.values(), ids=SOUND)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_page_that_shows_what_runs_passes(cookbook, markdown, lang):
    cookbook.recipe("label-smoothing", cookbook.CLAIM, after=f"\n{markdown}")
    assert cookbook.refereed("label-smoothing", lang) == []


def test_recorded_output_is_shown_and_is_no_fault(cookbook):
    cookbook.recipe("label-smoothing", '"""Add."""\n\nprint(1 + 1)\n')
    cookbook.write("snippets/training/label_smoothing.out", "2\n")
    assert cookbook.refereed("label-smoothing") == []
