"""A retired recipe's address says what became of it, in both languages."""

import json

import pytest

RETIRED = """
- page: training/old-task
  successor: label-smoothing
  en: {title: "Old: task", reason: "There is a better way."}
  zh: {title: 旧任务, reason: 有更好的做法。}
- page: gone/without
  en: {title: Without, reason: "Nobody needs it."}
  zh: {title: 没有后继, reason: 已经没人需要。}
- page: data/label-smoothing
  successor: label-smoothing
  en: {title: Moved, reason: "It is about training."}
  zh: {title: 已移走, reason: 它属于训练。}
"""
REPOSITORY = "https://example.org/o/r"
WORDS = {
    "en": ("This recipe was retired. There is a better way.", "Read instead:"),
    "zh": ("本条目已停用。有更好的做法。", "请改看："),
}


@pytest.fixture(scope="module")
def site(tiny_cookbook):
    cookbook = tiny_cookbook()
    cookbook.write("docs/retired.yml", RETIRED)
    address = {"SITE_URL": "https://example.org/x/", "REPOSITORY_URL": REPOSITORY}
    done = cookbook.command("mkdocs", "build", "--strict", **address)
    assert done.returncode == 0, done.stdout + done.stderr
    return cookbook.root / "site"


@pytest.mark.parametrize("lang", WORDS)
def test_the_old_address_leads_to_the_successor(site, lang):
    html = (site / lang / "training/old-task/index.html").read_text("utf-8")
    for words in WORDS[lang]:
        assert words in html
    assert 'href="../label-smoothing/"' in html
    refresh = '<meta http-equiv="refresh" content="0; url=../../training/'
    assert f'{refresh}label-smoothing/">' in html
    assert (site / lang / "training/old-task/../../training/label-smoothing").is_dir()
    canonical = f"https://example.org/x/{lang}/training/label-smoothing/"
    assert f'<link rel="canonical" href="{canonical}">' in html


def test_without_a_successor_the_address_stays_and_is_not_indexed(site):
    html = (site / "en/gone/without/index.html").read_text("utf-8")
    assert "This recipe was retired. Nobody needs it." in html
    assert '<meta name="robots" content="noindex">' in html
    assert 'http-equiv="refresh"' not in html


@pytest.mark.parametrize("lang", WORDS)
def test_a_recipe_can_move_to_another_category(site, lang):
    html = (site / lang / "data/label-smoothing/index.html").read_text("utf-8")
    assert 'href="../../training/label-smoothing/"' in html
    html = (site / lang / "training/label-smoothing/index.html").read_text("utf-8")
    assert WORDS[lang][1] not in html


def test_nothing_lists_a_retired_recipe(site):
    recipes = json.loads((site / "recipes.json").read_text("utf-8"))["recipes"]
    assert [recipe["slug"] for recipe in recipes] == ["label-smoothing"]
    for lang in WORDS:
        for name in ("search/search_index.json", "index.html", "training/index.html"):
            text = (site / lang / name).read_text("utf-8")
            assert "old-task" not in text, name
            assert WORDS[lang][0] not in text, name
    assert "old-task" not in (site / "llms.txt").read_text("utf-8")


def test_a_living_page_is_not_redirected(site):
    html = (site / "en/training/label-smoothing/index.html").read_text("utf-8")
    assert 'http-equiv="refresh"' not in html
    assert 'content="noindex"' not in html


@pytest.mark.parametrize(("lang", "guide"), [("en", ""), ("zh", ".zh")])
def test_pages_link_to_the_repository_they_were_built_for(site, lang, guide):
    home = (site / lang / "index.html").read_text("utf-8")
    assert f'href="{REPOSITORY}/blob/HEAD/CONTRIBUTING{guide}.md"' in home
    wanted = f"{REPOSITORY}/issues/new?template=recipe-wanted.yml"
    assert f'data-wanted="{wanted}"' in home
    page = (site / lang / "training/label-smoothing/index.html").read_text("utf-8")
    assert f'href="{REPOSITORY}/issues/new?template=wrong-recipe.yml&amp;' in page
    assert f"page={lang}%2Ftraining%2Flabel-smoothing%2F" in page


def test_a_fault_in_the_list_stops_the_build(cookbook):
    cookbook.write("docs/retired.yml", RETIRED.replace("label-smoothing", "nothing"))
    done = cookbook.command("mkdocs", "build", "--strict")
    assert done.returncode != 0
    assert "docs/retired.yml:2: X104 no recipe nothing; " in done.stdout + done.stderr
