"""What the build writes: addresses, recipes.json, llms.txt, Markdown twins."""

import hashlib
import html
import json
import re

import pytest

from cookbook.book.pages import HAN, LANGUAGES, PASSIVE
from cookbook.checks import shown
from cookbook.site import search, status
from tests.helpers import ROOT

FOREIGN = re.compile(r'(?:src|href)="(https?://[^"]+)"')
LIBRARY = re.compile(rb"^(?:import|from) (?:torch|torchvision|timm)\b", re.MULTILINE)
LOADS = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*>")


@pytest.fixture(scope="module")
def recipes(site) -> list[dict]:
    document = json.loads((site / "recipes.json").read_text("utf-8"))
    assert document["schema"] == 1
    return document["recipes"]


def test_every_page_in_docs_is_listed_at_its_address(site, recipes):
    listed = {entry["url"][lang] for entry in recipes for lang in LANGUAGES}
    written = {
        f"{path.parts[-3]}/{path.parts[-2]}/{path.stem}/"
        for lang in LANGUAGES
        for path in (ROOT / "docs" / lang).glob("*/*.md")
    }
    assert listed >= written
    for entry in recipes:
        stubs = {entry["url"][lang] for lang in entry["missing"]}
        assert {*entry["url"].values()} - written == stubs
    for url in listed:
        assert (site / url / "index.html").is_file()
        assert (site / f"{url.rstrip('/')}.md").is_file()


def test_entries_have_both_languages_hashes_and_what_a_search_needs(recipes):
    for entry in recipes:
        for key in ("title", "description", "url"):
            assert set(entry[key]) == set(LANGUAGES)
            assert entry["missing"] or entry[key]["en"] != entry[key]["zh"]
        imports = False
        for snippet in entry["snippets"]:
            source = (ROOT / snippet["path"]).read_bytes()
            assert hashlib.sha256(source).hexdigest() == snippet["sha256"]
            assert snippet["device"] in {"cpu", "gpu"}
            imports |= bool(LIBRARY.search(source))
        assert bool(entry["apis"]) == imports
        assert all(isinstance(entry[key], list) for key in ("covers", "tags", "errors"))


def test_pages_show_the_answer_and_exactly_the_files(site, recipes):
    for entry in recipes:
        files = [(ROOT / s["path"]).read_text("utf-8") for s in entry["snippets"]]
        for lang in LANGUAGES:
            page = (site / entry["url"][lang] / "index.html").read_text("utf-8")
            first, *codes = [
                block for block in shown.blocks(page) if block[0] not in PASSIVE
            ]
            assert first[1] == entry["answer"] + "\n"
            assert [code for kind, code in codes if kind == "python"] == files


def test_chinese_text_has_no_gaps_from_line_breaks(site, catalogue):
    gap = re.compile(
        "[\u3000-\u303f\u3400-\u9fff\uff00-\uff65]\\n[\u3000-\u303f\u3400-\u9fff]"
    )
    for recipe in catalogue.recipes:
        page = (site / recipe.pages["zh"].url / "index.html").read_text("utf-8")
        article = page.partition("<article")[2].partition("</article")[0]
        prose = re.sub(r"<pre.*?</pre>", "", article, flags=re.DOTALL)
        assert not gap.search(re.sub(r"</?(?:a|em|strong)\b[^>]*>", "", prose))


def test_markdown_twins_hold_each_block_and_output_byte_for_byte(site, catalogue):
    for recipe in catalogue.recipes:
        expected = [f"{recipe.answer.text}\n"]
        expected += [f"{recipe.command}\n"] if recipe.command else []
        for block in recipe.blocks:
            expected.append(block.code)
            file = block.snippet and (ROOT / block.snippet).with_suffix(".out")
            if file and file.exists():
                expected.append(file.read_text("utf-8"))
        for lang, page in recipe.pages.items():
            text = (site / lang / recipe.category / f"{recipe.slug}.md").read_text()
            assert text.startswith(f"# {recipe.title(lang)}\n")
            quoted = [fence.code for fence in page.fences if fence.language in PASSIVE]
            shown = re.findall(r"^```\S.*\n([\s\S]*?)^```$", text, re.MULTILINE)
            assert [code for code in shown if code not in quoted] == expected


def test_each_answer_names_its_imports_and_what_a_reader_brings(
    site, catalogue, recipes
):
    index = (site / "llms.txt").read_text("utf-8")
    for recipe, entry in zip(catalogue.recipes, recipes, strict=True):
        lines = entry["answer"].split("\n")
        assert "".join(f"\n      {line}" for line in lines) in index
        assert lines[: len(entry["imports"])] == entry["imports"]
        names = "".join(f".*`{re.escape(name)}`" for name in entry["yours"])
        for lang, word in (("en", "Yours: "), ("zh", "需自备：")):
            html = (site / entry["url"][lang] / "index.html").read_text("utf-8")
            assert ('<p class="yours">' in html) == bool(names)
            text = (site / lang / recipe.category / f"{recipe.slug}.md").read_text()
            assert not names or re.search(f"^{word}{names}", text, re.MULTILINE)


def test_links_of_markdown_twins_and_llms_txt_lead_to_files(site, recipes):
    texts = [site / "llms.txt"]
    texts += [
        site / f"{entry['url'][lang].rstrip('/')}.md"
        for entry in recipes
        for lang in LANGUAGES
    ]
    for text in texts:
        prose = re.sub(r"^```[\s\S]*?^```$", "", text.read_text("utf-8"), flags=re.M)
        prose = re.sub(r"^ {4}.*$", "", prose, flags=re.M)  # answers in llms.txt
        prose = re.sub(r"`[^`\n]*`", "", prose)  # kernel[grid](x) is no link
        for target in re.findall(r"\]\(([^)#]+)(?:#[\w-]+)?\)", prose):
            if not target.startswith("http"):
                assert (text.parent / target).exists(), f"{text}: {target}"


def test_nothing_is_loaded_from_elsewhere_and_no_page_speaks_to_contributors(site):
    for file in site.rglob("*.html"):
        text = file.read_text("utf-8")
        for tag in LOADS.findall(text):
            assert not FOREIGN.search(tag), f"{file.relative_to(site)}: {tag}"
        assert "make test-gpu" not in text
    for sheet in (site / "assets").rglob("*.css"):
        assert "url(http" not in sheet.read_text("utf-8")


def test_the_index_has_answers_tags_and_the_words_of_all_aliases(site, catalogue):
    for lang in LANGUAGES:
        first = json.loads((site / lang / search.FILE).read_text("utf-8"))["docs"]
        docs = json.loads((site / lang / search.REST).read_text("utf-8")) | first
        assert docs["location"] == [
            f"{recipe.category}/{recipe.slug}/" for recipe in catalogue.recipes
        ]
        titles = [recipe.title(lang) for recipe in catalogue.recipes]
        assert docs["title"] == titles
        for n, recipe in enumerate(catalogue.recipes):
            assert docs["answers"][n] in recipe.answer.code + recipe.command
            gpu = any(block.mark == "gpu" for block in recipe.blocks)
            assert (status.WORDS[lang]["needs"] in docs["tags"][n]) == gpu
            assert "CPU" not in docs["tags"][n]
            columns = [column[n] for name, column in docs.items() if name != "location"]
            known = search.words("\n".join(columns))
            stop = search.words(" ".join(search.STOP))
            for alias in map(search.searched_words, recipe.pages[lang].meta["aliases"]):
                if bool(HAN.search(alias)) == (lang == "zh"):
                    assert search.words(alias) <= known | stop


def test_category_pages_list_every_recipe_with_its_sentence(site, catalogue):
    for recipe in catalogue.recipes:
        for lang in LANGUAGES:
            page = (site / lang / recipe.category / "index.html").read_text("utf-8")
            sentence = html.escape(recipe.description(lang), quote=False)
            assert sentence.replace("`", "") in re.sub(r"<[^>]+>", "", page)
            assert f'href="{recipe.slug}/"' in page
