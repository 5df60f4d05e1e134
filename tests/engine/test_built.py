"""One build: stubs where a page is missing, old addresses, links to the repository."""

import json

import pytest

from tests.engine.plants import PAGE, RAISES, TWIN, plant

SLUG = "label-smoothing"
ADDRESSES = {
    "SITE_URL": "https://example.org/x/",
    "REPOSITORY_URL": "https://example.org/o/r",
}
REPOSITORY = ADDRESSES["REPOSITORY_URL"]
ENGLISH = "## `Why` {#why}\n\nBecause.\n\n```pytb\nKeyError: 1\n```"
MOVED = "data/other: training/other\ntraining/old-task: training\n"


@pytest.fixture(scope="module")
def site(tiny_cookbook):
    """A site's text files; one recipe is in English alone, the other links to it."""
    cookbook = tiny_cookbook()
    plant(cookbook, en=ENGLISH, test=RAISES, moved=MOVED)
    (cookbook.root / TWIN).unlink()
    cookbook.recipe("other", cookbook.CLAIM, before=f"[CPU]({SLUG}.md#why)\n\n")
    assert cookbook.problems() == []
    (warning, *_) = cookbook.warnings()
    assert warning.startswith(f"{PAGE}:1: T106 nobody has written this recipe in")
    done = cookbook.command("mkdocs", "build", "--strict", **ADDRESSES)
    assert done.returncode == 0, done.stdout + done.stderr
    root = cookbook.root / "site"
    return {
        file.relative_to(root).as_posix(): file.read_text("utf-8")
        for file in root.rglob("*")
        if file.suffix in {".html", ".json", ".md", ".txt", ".xml"}
    }


def test_a_stub_has_the_code_and_leads_to_the_page_there_is(site):
    stub = site[f"zh/training/{SLUG}/index.html"]
    assert f'href="../../../en/training/{SLUG}/"' in stub
    assert "本条目还没有中文页" in stub
    assert "Add two numbers" in stub
    assert 'id="why"' in stub  # where the other recipe's page links to
    assert "Because" not in stub
    for page in ("index.html", "other/index.html"):
        assert f"The {SLUG}（英文）" in site[f"zh/training/{page}"]
    assert "1 个任务" in site["zh/index.html"]
    assert "2 tasks" in site["en/index.html"]
    text = site[f"zh/training/{SLUG}.md"]
    link = f"[英文页](../../en/training/{SLUG}.md)"
    assert f"> 本条目还没有中文页。代码是两种语言共用的，说明请看{link}。\n" in text
    assert "<span" not in text


def test_lists_know_what_is_written_and_no_old_address(site):
    assert f"zh/training/{SLUG}.md" not in site["llms.txt"]
    first, second = json.loads(site["recipes.json"])["recipes"]
    assert (first["missing"], first["behind"]) == (["zh"], [])
    assert first["errors"] == ["KeyError: 1"]
    assert second["category"] == "training"
    pages = ("index.html", "training/index.html")
    pages += ("search/search_index.json", "search/search_rest.json")
    names = ["llms.txt", "recipes.json", "sitemap.xml"]
    for name in [
        *names,
        *(f"{lang}/{page}" for lang in ("en", "zh") for page in pages),
    ]:
        assert "old-task" not in site[name], name
        assert "data/other" not in site[name], name


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_an_old_address_leads_on_at_once(site, lang):
    for old, url in (
        ("data/other", "training/other"),
        ("training/old-task", "training"),
    ):
        html = site[f"{lang}/{old}/index.html"]
        assert f"{lang}/{url}/index.html" in site
        assert f'<meta http-equiv="refresh" content="0; url=../../{url}/">' in html
        assert f'<link rel="canonical" href="../../{url}/">' in html
        assert f'<a href="../../{url}/">' in html
    assert "(../training/other.md)" in site[f"{lang}/data/other.md"]


@pytest.mark.parametrize(("lang", "guide"), [("en", ""), ("zh", ".zh")])
def test_pages_link_to_the_repository_they_were_built_for(site, lang, guide):
    home = site[f"{lang}/index.html"]
    assert f'href="{REPOSITORY}/blob/HEAD/CONTRIBUTING{guide}.md"' in home
    wanted = f"{REPOSITORY}/issues/new?template=recipe-wanted.yml"
    assert f'data-wanted="{wanted}"' in home
    page = site[f"{lang}/training/other/index.html"]
    assert f'href="{REPOSITORY}/issues/new?template=wrong-recipe.yml&amp;' in page
    assert f"page={lang}%2Ftraining%2Fother%2F" in page
