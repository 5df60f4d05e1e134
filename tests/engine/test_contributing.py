"""What contributors are told agrees with what there is."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from cookbook.catalogue import Catalogue
from cookbook.checks.rules import RULES
from cookbook.site import feedback
from tests.helpers import ROOT

FORMS = ROOT / ".github/ISSUE_TEMPLATE"
GUIDES = {"en": "CONTRIBUTING.md", "zh": "CONTRIBUTING.zh.md"}
REPOSITORY = "https://example.org/o/r"


@pytest.mark.parametrize("lang", GUIDES)
def test_the_guides_quote_rules_as_they_are(lang):
    text = (ROOT / GUIDES[lang]).read_text("utf-8")
    quoted = re.findall(r"`([A-Z]\d{3})(?: ([^`]+))?`", text)
    assert quoted
    for code, words in quoted:
        assert getattr(RULES[code], lang)[0].startswith(words), code


def test_the_guides_have_the_same_sections_commands_and_rows():
    shapes = []
    for name in GUIDES.values():
        text = (ROOT / name).read_text("utf-8")
        commands = re.findall(r"^```\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        rows = [line.count("|") for line in text.splitlines() if line.startswith("|")]
        headings = re.findall(r"^(#+) ", text, re.MULTILINE)
        shapes.append((headings, commands, rows))
    assert shapes[0] == shapes[1]


def test_every_category_has_owners_in_both_languages_and_no_other_has():
    lines = (ROOT / ".github/CODEOWNERS").read_text("utf-8").splitlines()
    owned = [line.split()[0] for line in lines if line and not line.startswith("#")]
    expected = ["*", "/docs/en/", "/docs/zh/"]
    for category in Catalogue(ROOT).categories:
        slug = category.slug
        expected += [f"/docs/en/{slug}/", f"/docs/zh/{slug}/"]
        expected += [f"/snippets/{slug}/", f"/tests/snippets/{slug}/"]
    assert owned == expected


def fields(form: str) -> set[str]:
    document = yaml.safe_load((FORMS / form).read_text("utf-8"))
    return {each["id"] for each in document["body"]}


def query_of(address: str) -> dict[str, str]:
    assert address.startswith(f"{REPOSITORY}/issues/new?")
    return {key: value for key, (value,) in parse_qs(urlsplit(address).query).items()}


def test_a_page_fills_in_the_form_for_faults():
    catalogue = Catalogue(ROOT, REPOSITORY)
    recipe = catalogue.by_slug["label-smoothing"]
    query = query_of(feedback.wrong(catalogue, recipe, "zh"))
    assert query.pop("template") == feedback.WRONG
    assert query.pop("title") == "[label-smoothing] "
    assert query.keys() <= fields(feedback.WRONG)
    assert query["recipe"] == "label-smoothing"
    assert query["page"] == "zh/training/label-smoothing/"
    assert query["recorded"] == f"torch {catalogue.records[0].torch}"


def test_a_recipe_can_be_asked_for():
    query = query_of(feedback.recipe_wanted(f"{REPOSITORY}/"))
    assert query == {"template": feedback.WANTED}
    assert (FORMS / feedback.WANTED).exists()


def test_without_a_repository_there_is_no_address():
    catalogue = Catalogue(ROOT)
    recipe = catalogue.by_slug["label-smoothing"]
    assert feedback.wrong(catalogue, recipe, "en") is None
    assert feedback.recipe_wanted("") is None


@pytest.mark.parametrize("form", ["wrong-recipe.yml", "recipe-wanted.yml"])
def test_forms_speak_both_languages(form):
    document = yaml.safe_load((FORMS / form).read_text("utf-8"))
    texts = [document["name"], document["description"]]
    texts += [each["attributes"]["label"] for each in document["body"]]
    for text in texts:
        assert re.search(r"[A-Za-z]", text), text
        assert re.search(r"[\u4e00-\u9fff]", text), text


def test_the_hook_calls_the_check_and_fetches_nothing():
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    (repository,) = config["repos"]
    assert repository["repo"] == "local"
    (hook,) = repository["hooks"]
    assert hook["entry"].startswith(".venv/bin/python -m cookbook check")
    assert hook["language"] == "system"
