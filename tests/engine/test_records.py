"""Records: only a run's own, unchanged words about the present text count."""

import pytest

from cookbook.book import records
from cookbook.book.catalogue import Catalogue
from cookbook.checks import structure
from cookbook.site import indexes, publish, status
from tests.engine.plants import ENVIRONMENT, SNIPPET, passed, plant
from tests.helpers import ROOT

SLUG = "label-smoothing"
GPU = {**ENVIRONMENT, "kind": "gpu", "device": "NVIDIA H100", "cuda": "13.0"}


def problems(root) -> list[str]:
    return [str(one) for one in structure._record_problems(root)]


@pytest.fixture
def book(cookbook):
    """A cookbook of one recipe, whose record is written as a test asks for it."""
    return Book(cookbook)


class Book:
    def __init__(self, cookbook):
        self.cookbook, self.root = cookbook, cookbook.root

    @property
    def catalogue(self) -> Catalogue:
        return Catalogue(self.root)

    @property
    def recipe(self):
        return self.catalogue.by_slug[SLUG]

    @property
    def runs(self) -> list[dict]:
        return publish.runs(self.catalogue, self.recipe.blocks[0])

    def write(self, environment: dict, **run):
        runs = [passed(self.recipe.blocks[0], **run)]
        return records.write(self.root, environment, runs, known=set())

    def line(self, lang: str = "en") -> str:
        return status.line(self.catalogue, self.recipe, lang)

    def table(self, lang: str = "en") -> list[str]:
        return status.table(self.catalogue, self.recipe, lang)

    def verified(self) -> str:
        return indexes.environments_page(self.catalogue, "en")

    def totals(self, lang: str = "en") -> str:
        return status.totals(self.catalogue, lang)


def test_nothing_recorded_is_not_yet_run(book):
    assert book.line() == "CPU: not yet run"  # no block needs a GPU
    assert book.line("zh") == "CPU：尚未运行"
    plant(book.cookbook, gpu=True)
    assert book.line() == "GPU: not yet run"
    assert book.runs == []


def test_a_pass_shows_release_and_day_until_a_character_changes(book):
    book.write(ENVIRONMENT)
    assert book.line() == "✓ Ran on CPU, torch 2.15 · 2026-11-20"
    expected = {"torch": "2.15.0+cu132", "status": "passed", "seconds": 0.26}
    assert expected.items() <= book.runs[0].items()
    plant(book.cookbook, py=["Add", "Sum"])
    assert book.line() == "CPU: not run since this changed"
    assert "修改后" in book.line("zh")
    assert book.runs == []


def test_a_failing_gpu_run_shows(book):
    book.write(ENVIRONMENT)
    book.write(GPU, status="failed")
    assert "H100" not in book.line()  # which no block needs
    page = indexes.environments_page(book.catalogue, "en")
    assert "| All recipes | 2.15 | 2.15 H100 |" in page
    assert f"| [The {SLUG}](training/{SLUG}.md) | ✓ | ✗ |" in page
    assert "| 2.15.0 | ✓ | ✗ |" in book.table()


def test_only_what_was_run_is_in_a_range_and_a_failure_says_why(book):
    for torch in ("2.15.0", "2.14.1", "2.13.0", "2.6.0"):
        book.write({**ENVIRONMENT, "torch": torch})
    book.write(
        {**ENVIRONMENT, "torch": "2.4.1"}, status="failed", cause="KeyError: 'a'"
    )
    book.write({**ENVIRONMENT, "torch": "2.5.1"}, status="warned", cause="UserWarning")
    assert book.line().startswith("✓ Ran on CPU, torch 2.6, 2.13–2.15 · ")
    assert "| 2.4.1 | ✗ `KeyError: 'a'` |" in book.table()
    assert "| 2.5.1 | ▲ `UserWarning` |" in book.table()
    assert "KeyError: 'a'" in book.verified()
    assert publish.entry(book.catalogue, book.recipe)["torch"] == {
        "passed": ["2.15.0", "2.14.1", "2.13.0", "2.6.0"],
        "failed": {"2.5.1": "UserWarning", "2.4.1": "KeyError: 'a'"},
    }


def test_a_run_of_a_part_takes_nothing_away_but_what_is_gone(book):
    book.write(ENVIRONMENT)
    records.write(book.root, ENVIRONMENT, [], known={SNIPPET})
    (record,) = records.load(book.root)
    assert list(record.blocks) == [SNIPPET]
    assert book.line().startswith("✓ Ran on CPU")
    records.write(book.root, ENVIRONMENT, [], known=set())
    assert records.load(book.root)[0].blocks == {}


def test_how_many_of_the_present_blocks_were_run_is_counted(book):
    book.write(ENVIRONMENT)
    assert "| <time>2026-11-20</time> | 1 of 1 | 0 |" in book.verified()
    plant(book.cookbook, py=["Add", "Sum"])
    assert "| <time>2026-11-20</time> | 0 of 1 | 0 |" in book.verified()


def test_without_git_a_record_names_no_commit(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert records.commit(tmp_path) is None


def test_the_newest_release_speaks_and_is_newer_than_its_nightlies(book):
    book.write({**ENVIRONMENT, "torch": "2.16.0"})
    for torch in ("2.16.0.dev20260101", "2.16.0rc1", "2.9.1"):
        book.write({**ENVIRONMENT, "torch": torch}, status="failed")
    order = [record.environment["torch"] for record in records.load(book.root)]
    assert order == ["2.16.0", "2.16.0rc1", "2.16.0.dev20260101", "2.9.1"]
    assert book.line().startswith("✓ Ran on CPU, torch 2.16")
    rows = book.table()
    assert rows.index("| 2.16.0 | ✓ |") < rows.index("| 2.9.1 | ✗ |")


def test_a_tick_is_for_the_blocks_that_earned_it(book):
    plant(book.cookbook, gpu=True)
    block = book.recipe.blocks[0]
    unearned = "Needs a GPU | GPU: not yet run"
    assert status.mark(book.catalogue, block, "en") == unearned
    book.write(GPU)
    earned = "✓ 已在 H100 上运行：torch 2.15 · 2026-11-20"
    assert status.mark(book.catalogue, block, "zh") == f"需要 GPU | {earned}"
    assert book.line("zh") == earned


RERUN = "; write it anew there, by pytest --save-runs or python -m benchmarks.gains, "
RERUN += "or remove the file"
FAULTS = {
    "JSONDecodeError: Expecting": ('"blocks"', "blocks"),
    "KeyError: 'blocks'": ('"blocks"', '"block"'),
    "no block can be perfect": ("passed", "perfect"),
    "its schema is not 2": ('"schema": 2', '"schema": 3'),
    "it is that of cpu-torch2.15.0-py3.12": ("3.11.7", "3.12.7"),
}


@pytest.mark.parametrize("words", FAULTS)
def test_a_record_that_can_not_be_believed_is_reported_and_ignored(book, words):
    file = book.write(ENVIRONMENT).relative_to(book.root)
    book.cookbook.replace(str(file), *FAULTS[words])
    (problem,) = problems(book.root)
    assert problem.startswith(f"{file}:1: R102 the record cannot be believed: {words}")
    assert problem.endswith(RERUN)
    assert book.line().startswith("CPU: not yet run")


def test_gains_that_can_not_be_believed_are_reported_and_ignored(book):
    file = "verified/gains/cpu.json"
    book.cookbook.write(file, '{"device": "CPU", "cores": 2, "torch": "2.15.0"}')
    (problem,) = problems(book.root)
    said = f"{file}:1: R102 the record cannot be believed: KeyError: 'gains'"
    assert problem == said + RERUN
    assert book.catalogue.gains == {}


def test_what_is_written_can_be_believed(book):
    book.write(GPU)
    assert problems(book.root) == problems(ROOT) == []


def test_totals_count_what_fails_on_any_device_of_the_newest_torch(book):
    book.write({**ENVIRONMENT, "torch": "2.9.1"}, status="failed")
    assert "1 recipes · 1 blocks · 1 environment, all on a CPU · last" in book.totals()
    assert "1 failing on torch 2.9.1, the newest" in book.totals()
    book.write(ENVIRONMENT)
    assert "nothing fails on torch 2.15.0, the newest" in book.totals()
    book.write(GPU, status="failed")
    assert " · 3 environments · last run 2026-11-20 · 1 failing on" in book.totals()
    assert "在最新的 torch 2.15.0 上有 1 个失败" in book.totals("zh")
    plant(book.cookbook, py=["Add", "Sum"])  # not run as it is now
    assert "nothing fails on torch 2.15.0, the newest" in book.totals()
