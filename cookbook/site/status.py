"""Say, from the records, where and when a recipe's exact text last passed."""

from dataclasses import dataclass

from cookbook.book.catalogue import Catalogue, Recipe
from cookbook.book.pages import Block
from cookbook.book.records import Record
from cookbook.site.words import WORDS

SIGNS = {"passed": "✓", "warned": "▲", "failed": "✗", "changed": "↻", None: "–"}


@dataclass(frozen=True)
class Outcome:
    """What came of a recipe's blocks in one environment.

    ``status`` is passed, warned, failed, or changed: run there, but as another text.
    """

    record: Record
    status: str
    cause: str = ""  # of a failure, or the warning


def outcome(recipe: Recipe, record: Record) -> Outcome | None:
    """What came of the recipe in an environment; None where it was not run."""
    mark = "gpu" if record.kind == "gpu" else None
    wanted = [block for block in recipe.blocks if block.mark == mark]
    wanted = wanted or [block for block in recipe.blocks if block.mark is None]
    if not any(block.path in record.blocks for block in wanted):
        return None
    current = [run for block in wanted if (run := record.run_of(block))]
    for status in ("failed", "warned"):
        for run in current:
            if run["status"] == status:
                return Outcome(record, status, run.get("cause", ""))
    complete = len(current) == len(wanted)
    return Outcome(record, "passed" if complete else "changed")


def outcomes(catalogue: Catalogue, recipe: Recipe) -> list[Outcome]:
    """What came of the recipe in each environment, newest torch first."""
    found = [outcome(recipe, record) for record in catalogue.records]
    return [one for one in found if one]


def releases(catalogue: Catalogue, recipe: Recipe) -> dict:
    """The releases on which its present text passed on a CPU, and what fails elsewhere.

    Newest first; a release on which it was not run is in neither.
    """
    found: dict[str, Outcome] = {}  # the newest Python of each release
    for one in outcomes(catalogue, recipe):
        if one.record.kind == "cpu" and one.status != "changed":
            found.setdefault(one.record.torch, one)
    passed = [release for release, one in found.items() if one.status == "passed"]
    causes = {r: one.cause for r, one in found.items() if one.status != "passed"}
    return {"passed": passed, "failed": causes}


def line(catalogue: Catalogue, recipe: Recipe, lang: str) -> str:
    """The newest run on a CPU, and on a GPU where a block needs one."""
    marks = {block.mark for block in recipe.blocks}
    found, parts = outcomes(catalogue, recipe), []
    for kind, mark in (("cpu", None), ("gpu", "gpu")):
        if mark in marks:
            own = [one for one in found if one.record.kind == kind]
            parts.append(_part(own, kind, WORDS[lang]))
    return " | ".join(parts) or WORDS[lang]["alone"]


def mark(catalogue: Catalogue, block: Block, lang: str) -> str:
    """The line above a block that needs a GPU: where it last passed, if it did."""
    runs = [
        Outcome(record, run["status"])
        for record in catalogue.records
        if record.kind == "gpu" and (run := record.run_of(block))
    ]
    return f"{WORDS[lang]['needs']} | {_part(runs, 'gpu', WORDS[lang])}"


def _part(found: list[Outcome], kind: str, words: dict) -> str:
    name = kind.upper()
    if not found:
        return words["never"].format(kind=name)
    counting = [one for one in found if one.status != "changed"]
    if not counting:
        return words["changed"].format(kind=name)
    newest = counting[0]
    device = newest.record.environment["device"]
    if newest.record.kind == "gpu":
        name = device.replace("NVIDIA ", "")
    return words["fails" if newest.status == "failed" else "ran"].format(
        sign=SIGNS[newest.status],
        where=name,
        releases=_releases(counting),
        date=newest.record.date,
    )


def _releases(found: list[Outcome]) -> str:
    """Where it passed: 2.4, 2.6, 2.13–2.15; what was not run is in no range."""
    passed = [one for one in found if one.status == "passed"] or found[:1]
    spans: list[list[tuple[int, int]]] = []
    for minor in sorted({one.record.minor for one in passed}):
        if spans and spans[-1][-1] == (minor[0], minor[1] - 1):
            spans[-1].append(minor)
        else:
            spans.append([minor])
    ends = (dict.fromkeys((span[0], span[-1])) for span in spans)
    return ", ".join("–".join(f"{a}.{b}" for a, b in span) for span in ends)


def table(catalogue: Catalogue, recipe: Recipe, lang: str) -> list[str]:
    """A row per torch version, a column per device; empty where nothing ran."""
    found = {
        (one.record.torch, one.record.environment["device"]): sign(one)
        for one in reversed(outcomes(catalogue, recipe))
    }
    devices = sorted({device for _, device in found}, key=lambda name: name != "CPU")
    releases = list(dict.fromkeys(record.torch for record in catalogue.records))
    if not found:
        return []
    rows = [["torch", *devices], ["---", *["---"] * len(devices)]]
    for release in releases:
        signs = (found.get((release, device), SIGNS[None]) for device in devices)
        rows.append([release, *signs])
    return [*(f"| {' | '.join(row)} |" for row in rows), "", WORDS[lang]["legend"], ""]


def sign(one: Outcome) -> str:
    """✓, or what failed and why."""
    cause = one.cause.replace("|", "\\|").replace("`", "")
    return f"{SIGNS[one.status]} `{cause}`" if cause else SIGNS[one.status]


def totals(catalogue: Catalogue, lang: str) -> str:
    """One line over everything, for the home pages.

    A recipe counts as failing where its present text failed under the newest torch
    on any device, even if it passed there on another.
    """
    records = catalogue.records
    if not records:
        return WORDS[lang]["no_records"]
    newest = records[0].torch
    on_newest = [record for record in records if record.torch == newest]
    failing = 0
    for recipe in catalogue.recipes:
        found = filter(None, (outcome(recipe, record) for record in on_newest))
        failing += any(one.status == "failed" for one in found)
    words, count = WORDS[lang], len(records)
    name = "environment" if count == 1 else "environments"
    environments = words[name].format(count=count)
    if all(record.kind == "cpu" for record in records):
        environments = words["on_cpu"].format(environments=environments)
    some = words["failing"].format(count=failing)
    return words["totals"].format(
        recipes=len(catalogue.written_in(lang)),
        blocks=sum(len(recipe.blocks) for recipe in catalogue.recipes),
        environments=environments,
        date=max(record.date for record in records),
        failing=some if failing else words["none_fails"],
        torch=newest,
    )
