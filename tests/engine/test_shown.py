"""The referee finds what the site shows and nothing runs or reads."""

import pytest

PAGE = "docs/en/training/label-smoothing.md"
INCLUDE = '--8<-- "training/label_smoothing.py"'
COUNTS = (
    "P221 blocks of code: {} on the site, {} collected; of text: {} on the site, "
    "{} collected"
)
FIX = "; write every block as a ``` fence at the left margin, outside comments, quotes"

# Markdown after the valid block, which ends on line 10; line 11 is empty.
FAULTS = {
    "~~~": ("~~~bash\nls\n~~~\n", 12, (2, 1, 0, 0)),
    "~~~ of Python": ("~~~python\nprint(1)\n~~~\n", 12, (2, 1, 0, 0)),
    "~~~ of text": ("~~~text\nwords\n~~~\n", 12, (1, 1, 1, 0)),
    "quote": ("> ```bash\n> ls\n> ```\n", 12, (2, 1, 0, 0)),
    "quoted include": (f"> ```python\n> {INCLUDE}\n> ```\n", 12, (2, 1, 0, 0)),
    "indented code": ("Words.\n\n    print(1)\n", 14, (1, 1, 1, 0)),
    "HTML": ("<pre>print(1)</pre>\n", 12, (2, 1, 0, 0)),
    "HTML over lines": ("<pre>\nprint(1)\n</pre>\n", 12, (2, 1, 0, 0)),
    "comment": ("<!--\n```bash\nls\n```\n-->\n", 13, (1, 2, 0, 0)),
    "Python in a comment": (
        f"<!--\n```python\n{INCLUDE}\n```\n-->\n",
        13,
        (1, 2, 0, 0),
    ),
}


@pytest.mark.parametrize(("markdown", "line", "counts"), FAULTS.values(), ids=FAULTS)
def test_a_block_shown_or_run_but_not_both_is_named(cookbook, markdown, line, counts):
    cookbook.recipe("label-smoothing", cookbook.CLAIM, after=f"\n{markdown}")
    (found,) = cookbook.refereed("label-smoothing")
    assert found.startswith(f"{PAGE}:{line}: {COUNTS.format(*counts)}{FIX}")
    # The checks say it too, so the build and ``make check`` refuse the page.
    assert found in cookbook.problems(rendered=())


def test_a_block_that_copies_otherwise_than_it_runs_is_named(cookbook):
    cookbook.recipe("label-smoothing", cookbook.CLAIM, after="\n```bash\nls\t-l\n```\n")
    (found,) = cookbook.refereed("label-smoothing")
    assert found.startswith(
        f"{PAGE}:12: P222 shown otherwise than run; copying must yield"
    )
    assert "-ls\t-l\n+ls  -l\n" in found


MARKDOWN = "write ## Heading {#id}, [text](target) or ![what it shows](file)"
NOT_SEEN = "which the checks do not see"
ONLY = "write Markdown, which is all that the checks read"
ELSEWHERE = (
    "would be loaded from another site; put the file below docs/ and name it relative "
    "to this page; only a link may lead elsewhere"
)
TAGS = {
    "heading above a line": (
        "More things\n-----------\n",
        f"P223 the site shows <h2>, {NOT_SEEN}; {MARKDOWN}",
    ),
    "heading without a space": (
        "##Title\n",
        f"P223 the site shows <h2>, {NOT_SEEN}; {MARKDOWN}",
    ),
    "heading in HTML": (
        '<h2 id="more">More</h2>\n',
        f"P223 the site shows <h2>, {NOT_SEEN}; {MARKDOWN}",
    ),
    "heading in HTML with the id of another": (
        '## More {#more}\n\n<h2 id="more">More</h2>\n',
        f"P223 the site shows <h2>, {NOT_SEEN}; {MARKDOWN}",
    ),
    "link in HTML": (
        '<a href="../nowhere/">a</a>\n',
        f'P223 the site shows <a href="../nowhere/">, {NOT_SEEN}; {MARKDOWN}',
    ),
    "link by reference": (
        "[a]: nowhere.md\n\n[a]\n",
        f'P223 the site shows <a href="nowhere.md">, {NOT_SEEN}; {MARKDOWN}',
    ),
    "link with a title": (
        '[a](nowhere.md "b")\n',
        f'P223 the site shows <a href="nowhere.md">, {NOT_SEEN}; {MARKDOWN}',
    ),
    "image in HTML": (
        '<img src="plot.svg" alt="a">\n',
        f'P223 the site shows <img src="plot.svg">, {NOT_SEEN}; {MARKDOWN}',
    ),
    "image without a source": (
        '<img alt="a">\n',
        f'P223 the site shows <img src="">, {NOT_SEEN}; {MARKDOWN}',
    ),
    "image from elsewhere": (
        "![a plot](https://evil.org/x.png)\n",
        f"P308 https://evil.org/x.png {ELSEWHERE}",
    ),
    "image from elsewhere, in HTML": (
        '<img alt="a" src="//evil.org/x.png">\n',
        f"P308 //evil.org/x.png {ELSEWHERE}",
    ),
    "background from elsewhere": (
        'Words.\n{ style="background: url(https://evil.org/x.png)" }\n',
        f"P308 background: url(https://evil.org/x.png) {ELSEWHERE}",
        13,
    ),
    "script on a tag": (
        "[a](https://a.org){ onclick=alert() }\n",
        f"P307 <a onclick> is HTML; {ONLY}",
        1,
    ),
    **{
        tag: (f"<{tag}{rest}>\n", f"P307 <{tag}> is HTML; {ONLY}")
        for tag, rest in {
            "script": ' src="https://cdn.org/x.js"></script',
            "iframe": ' src="https://cdn.org"></iframe',
            "link": ' rel="stylesheet" href="https://cdn.org/x.css"',
            "style": "></style",
            "video": ' src="a.mp4"></video',
        }.items()
    },
}


@pytest.mark.parametrize("name", TAGS)
def test_what_the_checks_do_not_read_is_named(cookbook, name):
    markdown, message, *line = TAGS[name]
    cookbook.recipe("label-smoothing", cookbook.CLAIM, after=f"\n{markdown}")
    expected = f"{PAGE}:{(*line, 12)[0]}: {message}"
    assert cookbook.refereed("label-smoothing") == [expected]
    assert expected in cookbook.problems(rendered=())


def test_pages_that_are_no_recipes_are_refereed_too(cookbook):
    for path in ("docs/root/index.md", "docs/zh/index.md"):
        text = (cookbook.root / path).read_text("utf-8")
        cookbook.write(path, f"{text}\n![图](https://evil.org/x.png)\n")
    first, second = cookbook.problems()
    assert "docs/root/index.md:9: P308 https://evil.org/x.png would" in first
    assert "docs/zh/index.md:9: P308 https://evil.org/x.png would" in second


SOUND = {
    "nothing more": "",
    "shell": "```bash\nls | wc\n```\n",
    "two alike": "```bash\nls\n```\n\nAgain:\n\n```bash\nls\n```\n",
    "error message": "```pytb\nIndexError: Target 10 is out of bounds.\n```\n",
    "inside an admonition": "!!! note\n\n    ```bash\n    ls\n    ```\n",
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
