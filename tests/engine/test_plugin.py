"""``pytest docs`` runs every block once, and says what is wrong with which."""

import json
import re
from pathlib import Path

import pytest

from cookbook.book.catalogue import Catalogue
from cookbook.rules import Problem, report
from cookbook.running import output
from cookbook.running.judge import gpus_wanted
from cookbook.site.render import full_markdown, site_markdown
from tests.engine.plants import PAGE, TWIN, plant
from tests.helpers import ROOT

FAULTY = {
    # The assert stands on line 9, in a function that line 12 calls.
    "assert-fails": '''
        """Fail."""

        import sys


        def check(total: int) -> None:
            assert total == 3, "a sum"


        print("so far", file=sys.stderr)
        check(1 + 1)
    ''',
    "raises": '"""Raise."""\n\nassert True\nraise KeyError("gone")\n',
    "exits": '"""Exit."""\n\nimport sys\n\nassert True\nsys.exit(0)\n',
    "hangs": '"""Hang."""\n\nimport time\n\nassert True\ntime.sleep(60)\n',
    "prints-otherwise": '"""Print."""\n\nprint("new")\n',
    "draws-otherwise": '"""Draw nothing more."""\n\nassert 1 + 1 == 2\n',
    "needs-package": '"""Import."""\n\nimport no_such_package\n\nassert True\n',
    "newer-torch": '"""Import."""\n\nimport torch.no_such_part\n\nassert True\n',
    "one-seed": '"""Draw."""\n\nimport torch\n\ntorch.manual_seed(0)\n'
    "assert round(torch.rand(1).item(), 4) == 0.4963\n",
    "needs-network": '"""Reach out."""\n\nimport socket\n\nassert True\n'
    'socket.gethostbyname("example.org")\n',
}
COUNTED = '''"""Count the runs."""

import os

with open(os.environ["COUNT_FILE"], "a") as file:
    assert file.write("x")
'''
SHELL = """
```bash
test "$(ls)" = shell.py
python shell.py | grep 2
```

```bash
python shell.py | grep nothing | cat
```
"""
MARKED = """
<!--pytest.mark.skip(reason="it resets the GPU")-->
```bash
exit 1
```

<!--pytest.mark.gpu-->
```bash
exit 1
```
"""
IMPORTS = '"""Import."""\n\nfrom json import gone\n\nassert gone\n'
WARNS = '"""Warn."""\n\nimport warnings\n\nwarnings.warn("old")\nassert True\n'
WRAPPED = (
    '"""Warn, and wrap it."""\n\nimport warnings\n\ntry:\n    warnings.warn("old")\n'
    'except UserWarning as e:\n    raise RuntimeError("export failed") from e\n'
)
PRINT = '"""Print."""\n\nprint(2)\nassert 1 + 1 == 2\n'


@pytest.fixture(scope="module")
def batch(tiny_cookbook):
    """One run over pages that are in order but for what their blocks do."""
    cookbook = tiny_cookbook()
    for slug, source in FAULTY.items():
        cookbook.recipe(slug, source)
    cookbook.write("snippets/training/prints_otherwise.out", "old\n")
    cookbook.write(
        "snippets/training/draws_otherwise.svg", "<svg>\n<text>x</text></svg>"
    )
    cookbook.recipe("a-kills", "import os\nos.kill(os.getppid(), 9)\nassert True\n")
    cookbook.recipe("half-run", "x = 1\nassert x == 1\nif x == 2:\n    x = 3\n")
    cookbook.recipe("counted", COUNTED)
    again = '\n```python\n--8<-- "training/counted.py"\n```\n'
    cookbook.recipe("shell", PRINT, after=SHELL)
    cookbook.recipe("marked", PRINT, before="<!--pytest.mark.gpu-->\n", after=MARKED)
    cookbook.recipe("unmarked", PRINT, after=again)
    cookbook.replace("docs/en/training/unmarked.md", "unmarked.py", "marked.py")
    cookbook.replace("docs/zh/training/unmarked.md", "unmarked.py", "marked.py")
    (cookbook.root / "snippets/training/unmarked.py").unlink()
    gpu = "<!--pytest.mark.gpu-->\n"
    cookbook.recipe("needs-gpu", "assert not __file__\n", before=gpu)
    cookbook.recipe("alone", PRINT)
    (cookbook.root / "docs/zh/training/alone.md").unlink()
    counter = cookbook.root / "counter"
    options = ("--trials", "-o", "block_timeout=10")
    run = cookbook.pytest(*options, COUNT_FILE=str(counter))
    run.cookbook, run.counted = cookbook, counter.read_text("utf-8")
    return run


def test_a_failing_assert_shows_place_traceback_and_stderr(batch):
    assert batch.code == 1
    status, text = batch.of("assert-fails")
    assert status == "failure"
    first = "snippets/training/assert_fails.py:8: exited with code 1: AssertionError: "
    assert text.startswith(f"{first}a sum\n")
    assert 'snippets/training/assert_fails.py", line 12, in <module>\n' in text
    assert 'assert total == 3, "a sum"' in text
    assert "AssertionError: a sum" in text
    assert "\n--- stderr\nso far\n" in text
    assert "snippets/training/assert_fails.py:8: exited with code 1" in batch.stdout
    assert "cookbook/running/plugin.py" not in batch.stdout


@pytest.mark.parametrize(
    ("slug", "message"),
    {
        "raises": "snippets/training/raises.py:4: exited with code 1: KeyError: 'gone'",
        "exits": "snippets/training/exits.py:1: left before its last line; "
        "remove what ends it",
        "hangs": "snippets/training/hangs.py:6: still running at its time limit; "
        "killed",
        "prints-otherwise": "snippets/training/prints_otherwise.py:1: printed "
        "otherwise than snippets/training/prints_otherwise.out; "
        "if right, pytest --record-output\n--- recorded\n+++ printed\n@@ -1 +1 @@\n"
        "-old\n+new\n",
        "draws-otherwise": "snippets/training/draws_otherwise.py:1: drew otherwise "
        "than snippets/training/draws_otherwise.svg; look at it, and if right, ",
        "needs-package": "snippets/training/needs_package.py:3: needs "
        "no_such_package, which is not installed here",
        "newer-torch": "snippets/training/newer_torch.py:3: exited with code 1",
        "one-seed": "snippets/training/one_seed.py:1: with other seeds, exited with "
        "code 1; claim what holds for any",
        "needs-network": "snippets/training/needs_network.py:6: needs the network "
        "(example.org); make its data in the snippet",
    }.items(),
)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_faulty_block_fails_on_both_its_pages(batch, slug, message, lang):
    status, text = batch.of(slug, lang=lang)
    assert status == "failure"
    assert message in text


# Beside faulty blocks; beside the snippets of its page; unmarked on this page;
# without a twin.
PASSED = [("label-smoothing",), ("counted",), ("shell",), ("shell", "line 12")]
PASSED += [("unmarked", "marked.py"), ("alone",)]


@pytest.mark.parametrize("item", PASSED)
def test_what_is_in_order_passes(batch, item):
    assert batch.of(*item) == ("passed", "")


def test_a_line_that_a_passing_run_never_came_to_is_named(batch):
    assert batch.of("half-run")[0] == "passed"
    place = "snippets/training/half_run.py:4: its run never came to this line; a test"
    assert batch.stdout.count(place) == 1


def test_every_block_of_a_page_is_an_item(batch):
    for page, items in {
        "shell": {"shell.py", "line 12", "line 17"},
        "marked": {"marked.py", "line 14", "line 19"},
    }.items():
        path = f"docs/en/training/{page}.md"
        assert {item for page, item in batch.outcomes if page == path} == items


def test_a_block_on_several_pages_runs_once(batch):
    pages = [page for page, item in batch.outcomes if item == "counted.py"]
    assert len(pages) == 4
    assert batch.counted == "x"


def test_a_worker_that_its_block_kills_is_replaced(batch):
    status, text = batch.of("a-kills")
    assert status == "failure"
    assert "ended the process that watches it" in text


def test_a_command_that_fails_inside_a_pipe_fails_the_block(batch):
    status, text = batch.of("shell", "line 17")
    assert status == "failure"
    assert "docs/en/training/shell.md:17: exited with code 1" in text


NEEDS = "needs a GPU: run make test-gpu"


@pytest.mark.parametrize(
    ("slug", "item", "reason"),
    [
        ("needs-gpu", None, NEEDS),
        ("marked", "line 14", "it resets the GPU"),
        ("marked", "line 19", NEEDS),
    ],
)
def test_a_marked_block_is_not_run_and_says_why(batch, slug, item, reason):
    status, text = batch.of(slug, item)
    assert status == "skipped"
    assert reason in text
    assert re.search(rf"^SKIPPED .*{slug}\.md(:\d+)?: {reason}$", batch.stdout, re.M)


def test_what_passes_without_a_gpu_has_not_earned_its_mark(batch):
    status, text = batch.of("marked")
    assert status == "failure"
    assert "docs/en/training/marked.md:8: P216 marked gpu, and the code" in text


def test_problems_are_marked_in_the_diff_of_a_pull_request(batch, capsys):
    matchers = json.loads((ROOT / ".github/problems.json").read_text("utf-8"))
    (pattern,) = matchers["problemMatcher"][0]["pattern"]
    report([Problem(Path(PAGE), 1, "heading-level-1")])  # as check prints it
    snippet = "snippets/training/assert_fails.py"
    printed = f"{capsys.readouterr().out}{snippet}:8:1: B011 as ruff says it\n"
    printed += batch.stdout
    marked = re.findall(pattern["regexp"], printed, re.MULTILINE | re.ASCII)
    assert (snippet, "8", "exited with code 1: AssertionError: a sum") in marked
    assert (snippet, "8", "B011 as ruff says it") in marked
    assert {PAGE, "docs/en/training/shell.md"} < {file for file, *_ in marked}
    assert all((batch.cookbook.root / file).is_file() for file, *_ in marked)


def test_a_page_that_would_not_run_as_shown_stops_the_run(cookbook):
    plant(cookbook, fence="```py", zh={"encoding": "gb18030"})
    cookbook.recipe("missing", PRINT)
    (cookbook.root / "snippets/training/missing.py").unlink()
    cookbook.recipe("tildes", PRINT, after="\n~~~bash\nls\n~~~\n")
    refused = cookbook.pytest()
    assert refused.code == pytest.ExitCode.INTERRUPTED
    for message in (
        f"{PAGE}:8: P206 a block of ```py would be shown but not run; write",
        "docs/en/training/tildes.md:12: P210 ~~~bash begins a block",
        "docs/en/training/missing.md:9: P203 no snippet training/missing.py; write --8",
        f"{TWIN}:2: F104 {TWIN} is not UTF-8",
    ):
        assert message in refused.stdout
    assert "passed" not in refused.stdout
    assert "Traceback" not in refused.stdout


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--gpu",), "--gpu: torch finds no GPU on this machine"),
        (("-n", "2"), "-n: blocks run on every core already"),
    ],
)
def test_what_can_not_be_run_is_refused(cookbook, options, reason):
    run = cookbook.pytest(*options)
    assert run.code == pytest.ExitCode.USAGE_ERROR
    assert reason in run.stderr
    assert run.outcomes == {}


DRAW = '''
"""Draw a line."""

import matplotlib.pyplot as plt

fig, ax = plt.subplots()
ax.plot([1, 2])
assert ax.set_title("up").get_text() == "up"
fig.savefig("label_smoothing.svg")
'''.lstrip()


def test_record_writes_updates_and_removes_what_is_printed_and_drawn(cookbook):
    cookbook.recipe("label-smoothing", DRAW)
    cookbook.recipe("fails", '"""Fail."""\n\nprint("half")\nassert False\n')
    cookbook.recipe("prints", PRINT)
    cookbook.recipe("printed", PRINT)
    for name in ("fails", "printed", "label_smoothing"):
        cookbook.write(f"snippets/training/{name}.out", "old\n")
    run = cookbook.pytest("--record-output")
    assert run.code == 1
    assert run.of("fails")[0] == "failure"
    assert run.of("prints") == run.of("printed") == ("passed", "")
    snippets = cookbook.root / "snippets/training"
    recorded = {file.stem: file.read_text() for file in snippets.glob("*.out")}
    assert recorded == {"fails": "old\n", "printed": "2\n", "prints": "2\n"}
    (picture,) = snippets.glob("*.svg")
    drawn = picture.read_text("utf-8")
    assert ">up</text>" in drawn
    assert "#000000" not in drawn

    plant(cookbook, head="alt: {label_smoothing: A line that goes <up>.}")
    plant(cookbook, zh=["aliases:", "alt: {label_smoothing: 一条上升的线。}\naliases:"])
    catalogue = Catalogue(cookbook.root)
    english, chinese = catalogue.by_slug["label-smoothing"].pages.values()
    shown = site_markdown(catalogue, english)
    assert '<svg role="img" aria-label="A line that goes &lt;up&gt;."' in shown
    assert drawn.removeprefix("<svg ") in shown
    assert "\n\n> 图：一条上升的线。\n" in full_markdown(catalogue, chinese)


def test_a_command_takes_a_gpu_for_each_process_that_it_starts():
    recipes = Catalogue(ROOT).by_slug
    single, multi = (
        [gpus_wanted(block) for block in recipes[slug].page_for("en").blocks]
        for slug in ("ddp-single-node", "ddp-multi-node")
    )
    assert single == [1, 2]
    assert multi[0] == 2  # two machines, a process each


@pytest.mark.parametrize(
    ("recorded", "printed", "same"),
    [
        ("torch: ...\n", "torch: 2.15.0\n", True),
        ("torch: ...\nend\n", "torch: 2.15.0\n", False),
        ("a.b\n", "axb\n", False),
        ("", "\n", False),
    ],
)
def test_three_dots_in_a_recorded_output_stand_for_anything(recorded, printed, same):
    assert output.matches(recorded, printed) == same


def test_a_long_difference_is_cut():
    lines = output.difference("", "x\n" * 1000).splitlines()
    assert len(lines) == output.MOST_LINES + 1
    assert lines[-1] == "… 973 more lines"


def statuses(document: dict) -> dict[str, str]:
    return {Path(block["path"]).stem: block["status"] for block in document["blocks"]}


def record_of(cookbook) -> dict:
    """The record that a run wrote."""
    (file,) = (cookbook.root / "verified").glob("cpu-*.json")
    return json.loads(file.read_text("utf-8"))


# What the site and the checks import, and the blocks do without.
MISSING = ("material", "mkdocs", "playwright", "ruff", "sklearn", "zizmor")


def test_a_run_that_is_stopped_records_what_was_run_and_judged(tiny_cookbook):
    """Here with no more packages than the guides name, as on a GPU's machine."""
    cookbook = tiny_cookbook()
    cookbook.recipe("needs-package", FAULTY["needs-package"])
    cookbook.recipe("to-come", cookbook.CLAIM)
    lines = ["import sys", *(f"sys.modules[{name!r}] = None" for name in MISSING)]
    cookbook.write("missing.py", "\n".join(lines))
    run = cookbook.pytest("-p", "missing", "--save-runs", "-x", "-k", "py")
    assert run.of("needs-package")[0] == "failure", run.stdout + run.stderr
    record = record_of(cookbook)
    assert statuses(record) == {"label_smoothing": "passed"}


def test_what_passed_is_not_run_again_and_a_part_takes_nothing_away(tiny_cookbook):
    cookbook = tiny_cookbook()
    for slug in ("first", "second"):
        cookbook.recipe(slug, cookbook.CLAIM)
    cookbook.recipe("raises", FAULTY["raises"])
    cookbook.pytest("--save-runs", "-k", "not raises")
    names = ("label_smoothing", "first", "second")
    assert statuses(record_of(cookbook)) == dict.fromkeys(names, "passed")

    cookbook.recipe("new", cookbook.CLAIM)
    cookbook.recipe("imports", IMPORTS)
    cookbook.recipe("warns", WARNS)
    cookbook.recipe("wrapped", WRAPPED)
    cookbook.replace("snippets/training/second.py", "== 2", "== 2  # edited")
    run = cookbook.pytest("--unrecorded", "--save-runs")
    status, reason = run.of("first")
    assert status == "skipped"
    assert re.search(r"passed here already, on [\d-]+ \(verified/cpu-.*json\)", reason)
    assert run.of("raises")[0] == "failure"
    assert run.of("second") == run.of("new") == ("passed", "")
    expected = dict.fromkeys((*names, "new"), "passed")
    expected |= dict.fromkeys(("raises", "imports"), "failed")
    record = record_of(cookbook)
    assert statuses(record) == expected | {"warns": "warned", "wrapped": "warned"}
    causes = [block["cause"] for block in record["blocks"] if "cause" in block]
    no_place = "ImportError: cannot import name 'gone' from 'json' (…/__init__.py)"
    assert causes == [no_place, "KeyError: 'gone'", *["UserWarning: old"] * 2]


def test_of_another_torch_only_a_failure_that_no_record_tells_fails(tiny_cookbook):
    cookbook = tiny_cookbook()
    for slug, source in {"raises": FAULTY["raises"], "warns": WARNS}.items():
        cookbook.recipe(slug, source)
    cookbook.recipe("edited", FAULTY["raises"].replace("gone", "found"))
    looked_at = ("--other-torch", "--unrecorded", "--save-runs")
    assert cookbook.pytest(*looked_at).of("raises")[0] == "failure"

    cookbook.replace("snippets/training/edited.py", "found", "lost")
    run = cookbook.pytest(*looked_at)
    assert run.of("edited")[0] == "failure"
    causes = {"raises": "KeyError: 'gone'", "warns": "UserWarning: old"}
    for slug, cause in causes.items():
        status, reason = run.of(slug)
        assert status == "skipped"
        assert reason.startswith(f"recorded already: {cause}")
    told = {"label_smoothing": "passed", "warns": "warned"}
    told |= {"raises": "failed", "edited": "failed"}
    assert statuses(record_of(cookbook)) == told
