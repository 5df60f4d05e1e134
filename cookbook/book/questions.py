"""What people asked, and the recipes that answer it: docs/questions/*.jsonl.

A line is ``{"q": …, "side": "en", "kind": …, "wants": ["slug", …]}``: the question, the
language of the site that it is put to, and the recipes that answer it; where there is
none, the topic of docs/wanted.yml, if it has one. The search learns from these;
tests/search judges it by others.
"""

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from cookbook.book.catalogue import Catalogue

FOLDER = Path("docs", "questions")
FORM = '{"q": "…", "side": "en", "kind": "…", "wants": ["slug"]}'


def load(catalogue: Catalogue) -> list[dict]:
    """All of them."""
    return read(catalogue, sorted((catalogue.root / FOLDER).glob("*.jsonl")))


def read(catalogue: Catalogue, files: Iterable[Path]) -> list[dict]:
    """Those of some files; wants become slugs of recipes that exist, topics the others.

    Raises:
        ValueError: a line is no question.
    """
    tasks, found = catalogue.tasks, []
    for file in files:
        for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1):
            try:
                question = json.loads(line)
                wants = set(question["wants"])
                found.append({key: question[key] for key in ("q", "side", "kind")})
            except (ValueError, TypeError, KeyError) as error:
                said = f"{file}:{number}: not a question; write {FORM}"
                raise ValueError(said) from error
            found[-1]["wants"] = {tasks[slug].slug for slug in wants & tasks.keys()}
            found[-1]["topics"] = wants - tasks.keys()
    return found


def by_slug(questions: Iterable[dict]) -> dict[str, list[str]]:
    """The questions that each recipe answers, and those that ask for a topic."""
    found = defaultdict(list)
    for question in questions:
        for slug in question["wants"] | question["topics"]:
            found[slug].append(question["q"])
    return found
