"""Questions that the search learns from: read, and added to their recipe's words."""

import pytest

from cookbook.book import questions
from cookbook.book.catalogue import Catalogue
from cookbook.site import search

LINE = '{"q": "%s", "side": "en", "kind": "task", "wants": ["label-smoothing", "x"]}\n'


def test_the_words_of_a_question_lead_to_the_recipe_that_answers_it(cookbook):
    lines = LINE % "overconfident classifier" + LINE % "an overconfident model alone"
    lines += 2 * (
        LINE.replace("label-smoothing", "y") % "overconfident model of a classifier"
    )
    cookbook.write("docs/questions/own.jsonl", lines)
    docs = search.index(Catalogue(cookbook.root), "en")["docs"]
    (n,) = (i for i, at in enumerate(docs["location"]) if "/label-smoothing/" in at)
    assert (docs["asked"][n], docs["often"][n]) == ("classifier model", "overconfident")
    assert "".join(docs["asked"][:n] + docs["asked"][n + 1 :]) == ""
    assert not any(search.index(Catalogue(cookbook.root), "zh")["docs"]["asked"])


def test_what_asks_for_a_topic_gives_the_topic_its_words(cookbook):
    cookbook.write("docs/wanted.yml", "x:\n  en: [Some topic]\n  zh: [某主题]\n")
    line = LINE.replace("label-smoothing", "y") % "where is it documented"
    other = LINE.replace('"x"', '"z"') % "documented behaviour"
    cookbook.write("docs/questions/own.jsonl", line + 2 * other)
    docs = search.index(Catalogue(cookbook.root), "en")["docs"]
    assert (docs["title"][-1], docs["asked"][-1]) == ("Some topic", "documented")


@pytest.mark.parametrize("line", ["no json", "[]", '{"q": "no recipe"}'])
def test_what_is_no_question_is_refused(cookbook, line):
    cookbook.write("docs/questions/own.jsonl", f"{LINE % 'good'}{line}\n")
    said = r"docs.questions.own\.jsonl:2: not a question; write {"
    with pytest.raises(ValueError, match=said):
        questions.load(Catalogue(cookbook.root))
