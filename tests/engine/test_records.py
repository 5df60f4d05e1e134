"""Records: only a run's own, unchanged words about the present text count."""

import json
import shutil
import subprocess

import jsonschema
import pytest

from cookbook import records
from cookbook.catalogue import Catalogue
from cookbook.site import publish, status
from tests.helpers import ROOT

ENVIRONMENT = {
    "torch": "2.15.0+cu132",
    "torchvision": "0.29.2",
    "numpy": "2.4.6",
    "python": "3.11.7",
    "platform": "Linux x86_64",
    "kind": "cpu",
    "device": "CPU",
    "cuda": None,
    "date": "2026-11-20",
    "commit": "0" * 40,
}
GPU = {**ENVIRONMENT, "kind": "gpu", "device": "NVIDIA H100", "cuda": "13.0"}
PAGES = """---
title: {title}
description: {sentence}
aliases: [x]
---

```python
--8<-- "tensors/one.py"
```
"""


@pytest.fixture
def root(tmp_path):
    """A cookbook of one recipe without records."""
    (tmp_path / "snippets/tensors").mkdir(parents=True)
    (tmp_path / "snippets/tensors/one.py").write_text('"""One."""\n\nassert True\n')
    for lang, sentence in (("en", "When."), ("zh", "何时。")):
        folder = tmp_path / "docs" / lang / "tensors"
        folder.mkdir(parents=True)
        page = PAGES.format(title=f"One {lang}", sentence=sentence)
        (folder / "one.md").write_text(page)
    categories = (ROOT / "docs/categories.yml").read_text("utf-8")
    (tmp_path / "docs/categories.yml").write_text(categories, "utf-8")
    return tmp_path


def write(root, environment, state="passed"):
    block = Catalogue(root).by_slug["one"].blocks[0]
    run = {
        "path": block.path,
        "sha256": block.sha256,
        "status": state,
        "seconds": 0.26,
        "peak_memory": 1,
        "gpu_memory": None,
    }
    return records.write(root, environment, [run], complete=True)


def mark_gpu(root):
    for lang in ("en", "zh"):
        page = root / f"docs/{lang}/tensors/one.md"
        marked = page.read_text("utf-8").replace(
            "```python", "<!--pytest.mark.gpu-->\n```python"
        )
        page.write_text(marked, "utf-8")


def line(root, lang="en"):
    catalogue = Catalogue(root)
    return status.line(catalogue, catalogue.by_slug["one"], lang)


def runs(root):
    catalogue = Catalogue(root)
    return publish.runs(catalogue, catalogue.by_slug["one"].blocks[0])


def test_nothing_recorded_is_not_yet_run(root):
    assert line(root) == "CPU: not yet run"  # no block needs a GPU
    assert line(root, "zh") == "CPU：尚未运行"
    mark_gpu(root)
    assert line(root) == "GPU: not yet run"
    assert runs(root) == []


def test_a_pass_shows_release_day_and_seconds(root):
    write(root, ENVIRONMENT)
    assert line(root) == "✓ CPU · torch 2.15.0 · 2026-11-20 · 0.3 s"
    expected = {"torch": "2.15.0+cu132", "status": "passed", "seconds": 0.26}
    assert expected.items() <= runs(root)[0].items()


def test_one_changed_character_takes_the_tick_away(root):
    write(root, ENVIRONMENT)
    write(root, GPU)
    file = root / "snippets/tensors/one.py"
    file.write_text(file.read_text().replace("One.", "One!"))
    words = "not run since this changed"
    assert line(root) == f"CPU: {words}"
    assert "修改后" in line(root, "zh")
    assert runs(root) == []


def test_a_failing_gpu_run_shows(root):
    write(root, ENVIRONMENT)
    write(root, GPU, "failed")
    assert "H100" not in line(root)  # which no block needs
    catalogue = Catalogue(root)
    page = status.environments_page(catalogue, "en")
    assert "- [One en](tensors/one.md): torch 2.15.0, NVIDIA H100" in page
    table = status.table(catalogue, catalogue.by_slug["one"], "en")
    assert "| 2.15.0 | ✓ | ✗ |" in table


def test_a_run_of_a_part_takes_nothing_away(root):
    write(root, ENVIRONMENT)
    records.write(root, ENVIRONMENT, [], complete=False)
    (record,) = records.load(root)
    assert list(record.blocks) == ["snippets/tensors/one.py"]
    assert line(root).startswith("✓ CPU")
    records.write(root, ENVIRONMENT, [], complete=True)
    assert records.load(root)[0].blocks == {}


def test_without_git_a_record_names_no_commit(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert records.commit(tmp_path) is None


def test_a_release_is_newer_than_its_nightlies(root):
    for torch in ("2.16.0.dev20260101", "2.16.0rc1", "2.16.0", "2.15.0+cu132"):
        write(root, {**ENVIRONMENT, "torch": torch})
    order = [record.environment["torch"] for record in records.load(root)]
    assert order == ["2.16.0", "2.16.0rc1", "2.16.0.dev20260101", "2.15.0+cu132"]


def test_the_newest_release_speaks(root):
    write(root, {**ENVIRONMENT, "torch": "2.9.1"}, "failed")
    write(root, ENVIRONMENT)
    assert line(root).startswith("✓ CPU · torch 2.15.0")
    rows = status.table(Catalogue(root), Catalogue(root).by_slug["one"], "en")
    assert rows.index("| 2.15.0 | ✓ |") < rows.index("| 2.9.1 | ✗ |")


def test_a_tick_is_for_the_blocks_that_earned_it(root):
    mark_gpu(root)
    catalogue = Catalogue(root)
    recipe = catalogue.by_slug["one"]
    assert status.mark(catalogue, recipe.blocks[0], "en") == (
        "Needs a GPU | GPU: not yet run"
    )
    write(root, GPU)
    catalogue = Catalogue(root)
    assert status.mark(catalogue, recipe.blocks[0], "zh") == (
        "需要 GPU | ✓ H100 · torch 2.15.0 · 2026-11-20 · 0.3 秒"
    )
    assert line(root).startswith("✓ H100 · torch 2.15.0")


def edit(change):
    def apply(file):
        document = json.loads(file.read_text())
        change(document)
        file.write_text(json.dumps(document))

    return apply


RERUN = "; run pytest --verify in that environment, or remove the file"
FAULTS = {
    "cut off": (
        lambda f: f.write_text(f.read_text()[:-40]),
        "R102 the record cannot be believed: ",
    ),
    "no environment": (
        edit(lambda d: d.pop("environment")),
        "R102 the record cannot be believed: $: 'environment' is",
    ),
    "an unknown status": (
        edit(lambda d: d["blocks"][0].update(status="perfect")),
        "R102 the record cannot be believed: $.blocks[0].status: ",
    ),
    "another environment's name": (
        lambda f: f.rename(f.with_name("cpu-torch9.9.9-py3.11.json")),
        "R102 the record cannot be believed: it is that of cpu-torch2.15.0-py3.11",
    ),
    "another schema": (
        edit(lambda d: d.update(schema=7)),
        "R102 the record cannot be believed: $.schema: 1 was expected",
    ),
    "an unknown kind": (
        edit(lambda d: d["environment"].update(kind="tpu")),
        "R102 the record cannot be believed: $.environment.kind: 'tpu'",
    ),
    "less than no time": (
        edit(lambda d: d["blocks"][0].update(seconds=-3)),
        "R102 the record cannot be believed: $.blocks[0].seconds: -3",
    ),
    "no day": (
        edit(lambda d: d["environment"].update(date="yesterday")),
        "R102 the record cannot be believed: $.environment.date: 'yes",
    ),
    "a day that is yet to come": (
        edit(lambda d: d["environment"].update(date="9999-01-01")),
        "R107 the record is of 9999-01-01, which is yet to come",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_record_that_can_not_be_believed_is_reported_and_ignored(root, name):
    damage, words = FAULTS[name]
    damage(write(root, ENVIRONMENT))
    (problem,) = records.problems(root)
    assert str(problem).startswith("verified/cpu-torch")
    assert words in str(problem)
    assert str(problem).endswith(RERUN)
    assert line(root).startswith("CPU: not yet run")


UNKNOWN = f"R108 the record is of commit {'0' * 40}, which is not in the history"


@pytest.fixture
def clone(root):
    """The cookbook in git, with one record of its only commit and one of another."""

    def git(*arguments: str, cwd=root) -> str:
        identity = ("-c", "user.name=A", "-c", "user.email=a@b.c")
        command = ["git", *identity, *arguments]
        run = subprocess.run(
            command, cwd=cwd, capture_output=True, text=True, check=True
        )
        return run.stdout.strip()

    git("init", "--quiet")
    git("add", "--all")
    git("commit", "--quiet", "--message=x")
    write(root, {**ENVIRONMENT, "commit": git("rev-parse", "HEAD")})
    write(root, {**GPU, "torch": "2.14.1"})
    return git


def test_a_record_of_no_commit_in_the_history_is_reported(root, clone):
    (problem,) = records.problems(root)
    assert (
        str(problem)
        == f"verified/nvidia-h100-torch2.14.1-py3.11.json:1: {UNKNOWN}{RERUN}"
    )


def test_where_the_history_is_not_there_no_commit_is_reported(root, clone):
    clone("add", "--all")
    clone("commit", "--quiet", "--message=records")
    clone("clone", "--quiet", "--depth=1", f"file://{root}", "shallow")
    assert records.problems(root / "shallow") == []
    shutil.rmtree(root / ".git")
    clone("init", "--quiet")  # as who takes the files and begins anew
    assert records.problems(root) == []


def test_the_schema_describes_what_is_written(root):
    schema = json.loads((ROOT / "verified/schema.json").read_text())
    jsonschema.validate(json.loads(write(root, GPU).read_text()), schema)
    for file in (ROOT / "verified").glob("*-torch*.json"):
        jsonschema.validate(json.loads(file.read_text()), schema)


def test_totals_count_one_environment_and_several(root):
    write(root, ENVIRONMENT)
    assert "1 recipes · 1 blocks · 1 environment, all on a CPU · last" in totals(
        root, "en"
    )
    write(root, GPU, "failed")
    assert " · 2 environments · last run 2026-11-20 · " in totals(root, "en")
    assert " · 2 个环境 · 最近运行 2026-11-20 · " in totals(root, "zh")


def test_totals_count_what_fails_on_any_device_of_the_newest_torch(root):
    write(root, {**ENVIRONMENT, "torch": "2.9.1"}, "failed")
    assert "1 failing on torch 2.9.1, the newest" in totals(root, "en")
    write(root, ENVIRONMENT)
    assert "nothing fails on torch 2.15.0, the newest" in totals(root, "en")
    write(root, GPU, "failed")
    assert "1 failing on torch 2.15.0, the newest" in totals(root, "en")
    assert "在最新的 torch 2.15.0 上有 1 个失败" in totals(root, "zh")
    file = root / "snippets/tensors/one.py"
    file.write_text(file.read_text().replace("One.", "One!"))  # not run as it is now
    assert "nothing fails on torch 2.15.0, the newest" in totals(root, "en")


def totals(root, lang):
    return status.totals(Catalogue(root), lang)


def test_what_a_gpu_block_took_is_shown_from_its_record(root):
    mark_gpu(root)
    catalogue = Catalogue(root)
    assert status.costs(catalogue, catalogue.by_slug["one"], "en") == []
    block = catalogue.by_slug["one"].blocks[0]
    run = {
        "path": block.path,
        "sha256": block.sha256,
        "status": "passed",
        "seconds": 1.26,
        "peak_memory": 1,
        "gpu_memory": 3 * 2**19,
    }
    records.write(root, GPU, [run], complete=True)
    catalogue = Catalogue(root)
    table = status.table(catalogue, catalogue.by_slug["one"], "zh")
    assert "| `one.py` | NVIDIA H100 | 2.15.0 | 1.3 秒 | 1.5 MiB |" in table


@pytest.mark.parametrize(
    ("change", "words"),
    [({"commit": "1" * 40}, "of several commits: 0{40}, 1{40}"), (None, "R102")],
)
def test_what_is_no_part_of_one_run_is_not_merged(root, change, words):
    parts = []
    for number, environment in enumerate((ENVIRONMENT, ENVIRONMENT | (change or {}))):
        file = write(root, environment)
        parts.append(root / str(number) / file.name)
        parts[-1].parent.mkdir()
        file.rename(parts[-1])
    if not change:
        parts[1].write_text("{")
    with pytest.raises(records.MergeError, match=words):
        records.merge(root, parts, [])
