"""The referee finds what the site shows and nothing runs or reads.

What it says of most pages stands in faults.toml.
"""

from copy import deepcopy

import pytest

from cookbook.catalogue import Catalogue
from cookbook.checks.shown import Referee
from tests.engine.plants import PAGE, plant


def test_pages_that_are_no_recipes_are_checked_too(cookbook):
    image = "![图](https://evil.org/x.png)"
    plant(cookbook, **{"docs/root/index.md": image, "docs/zh/index.md": image})
    first, second = cookbook.problems()
    assert "docs/root/index.md:9: P308 https://evil.org/x.png would" in first
    assert "docs/zh/index.md:9: P308 https://evil.org/x.png would" in second


def test_a_block_that_copies_otherwise_than_it_runs_is_named(cookbook):
    plant(cookbook, both="```bash\nls\t-l\n```")
    (found,) = cookbook.refereed("label-smoothing")
    assert found.startswith(f"{PAGE}:12: P222 shown otherwise than run; copying must")
    assert "-ls\t-l\n+ls  -l\n" in found


# The referee renders the page; here the reader of the Markdown saw something else.
UNREAD = {
    "fences": ("```bash\nls\n```", "P221 the site shows 2 blocks, 1"),
    "headings": ("## More {#more}", "P223 the site shows <h2> more,"),
    "links": ("[a](b.md)", "P223 the site shows <a> b.md,"),
}


@pytest.mark.parametrize("kind", UNREAD)
def test_the_referee_names_what_the_reader_did_not_see(cookbook, kind):
    markdown, message = UNREAD[kind]
    plant(cookbook, both=markdown)
    page = next(page for page in Catalogue(cookbook.root).pages if page.lang == "en")
    page.__dict__["document"] = document = deepcopy(page.document)  # it is cached
    del getattr(document, kind)[-1]
    found, *_ = Referee(cookbook.root).problems(page)
    assert str(found).startswith(f"{PAGE}:1: {message}")


def test_the_referee_names_html(cookbook):
    plant(cookbook, both="<video></video>")
    (found,) = cookbook.refereed("label-smoothing")
    assert found.startswith(f"{PAGE}:1: P307 <video> is HTML; ")


def test_recorded_output_is_shown_and_is_no_fault(cookbook):
    plant(cookbook, claim="print(1 + 1)", out="2")
    assert cookbook.refereed("label-smoothing") == []
