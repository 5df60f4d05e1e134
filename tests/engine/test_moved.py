"""An old address leads to what has taken its place, in both languages."""

import json

import pytest

MOVED = """
data/label-smoothing: training/label-smoothing
training/old-task:
  to: training
  en: "Nobody <needs> it."
  zh: 已经没人需要。
"""
REPOSITORY = "https://example.org/o/r"
REASON = {"en": "Nobody &lt;needs&gt; it.", "zh": "已经没人需要。"}


@pytest.fixture(scope="module")
def site(tiny_cookbook):
    cookbook = tiny_cookbook()
    cookbook.write("docs/moved.yml", MOVED)
    address = {"SITE_URL": "https://example.org/x/", "REPOSITORY_URL": REPOSITORY}
    done = cookbook.command("mkdocs", "build", "--strict", **address)
    assert done.returncode == 0, done.stdout + done.stderr
    return cookbook.root / "site"


@pytest.mark.parametrize("lang", REASON)
def test_the_old_address_leads_on_at_once(site, lang):
    old = site / lang / "data/label-smoothing"
    html = (old / "index.html").read_text("utf-8")
    url = "../../training/label-smoothing/"
    assert (old / url / "index.html").is_file()
    assert f'<meta http-equiv="refresh" content="0; url={url}">' in html
    assert f'<link rel="canonical" href="{url}">' in html
    assert f'<a href="{url}">' in html
    markdown = old.with_suffix(".md").read_text("utf-8")
    assert "(../training/label-smoothing.md)" in markdown


@pytest.mark.parametrize("lang", REASON)
def test_where_a_recipe_is_gone_its_address_says_why(site, lang):
    html = (site / lang / "training/old-task/index.html").read_text("utf-8")
    assert f'{REASON[lang]} <a href="../../training/">' in html
    assert '<meta name="robots" content="noindex">' in html
    assert 'http-equiv="refresh"' not in html


def test_nothing_lists_an_old_address(site):
    recipes = json.loads((site / "recipes.json").read_text("utf-8"))["recipes"]
    assert [recipe["category"] for recipe in recipes] == ["training"]
    files = ["llms.txt", "recipes.json", "sitemap.xml"]
    for lang in REASON:
        names = ("search/search_index.json", "search/search_rest.json", "index.html")
        files += [f"{lang}/{name}" for name in (*names, "training/index.html")]
    for name in files:
        text = (site / name).read_text("utf-8")
        assert "old-task" not in text, name
        assert "data/label-smoothing" not in text, name


@pytest.mark.parametrize(("lang", "guide"), [("en", ""), ("zh", ".zh")])
def test_pages_link_to_the_repository_they_were_built_for(site, lang, guide):
    home = (site / lang / "index.html").read_text("utf-8")
    assert f'href="{REPOSITORY}/blob/HEAD/CONTRIBUTING{guide}.md"' in home
    wanted = f"{REPOSITORY}/issues/new?template=recipe-wanted.yml"
    assert f'data-wanted="{wanted}"' in home
    page = (site / lang / "training/label-smoothing/index.html").read_text("utf-8")
    assert f'href="{REPOSITORY}/issues/new?template=wrong-recipe.yml&amp;' in page
    assert f"page={lang}%2Ftraining%2Flabel-smoothing%2F" in page
