"""``pytest docs`` runs every block once, and says what is wrong with which."""

import json
import os
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from cookbook.running import collector, namespaces, output

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
    "needs-package": '"""Import."""\n\nimport no_such_package\n\nassert True\n',
    "needs-network": '"""Reach out."""\n\nimport socket\n\nassert True\n'
    'socket.gethostbyname("example.org")\n',
}
COUNTED = '''"""Count the runs."""

import os

with open(os.environ["COUNT_FILE"], "w") as file:
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
PRINT = '"""Print."""\n\nprint(2)\nassert 1 + 1 == 2\n'


@pytest.fixture(scope="module")
def batch(tiny_cookbook):
    """One run over pages that are in order but for what their blocks do."""
    cookbook = tiny_cookbook()
    for slug, source in FAULTY.items():
        cookbook.recipe(slug, source)
    cookbook.write("snippets/training/prints_otherwise.out", "old\n")
    cookbook.recipe("counted", COUNTED)
    again = '\n```python\n--8<-- "training/counted.py"\n```\n'
    cookbook.recipe("shell", PRINT, after=SHELL)
    cookbook.recipe("marked", PRINT, before="<!--pytest.mark.gpu-->\n", after=MARKED)
    cookbook.recipe("unmarked", PRINT, after=again)
    cookbook.replace("docs/en/training/unmarked.md", "unmarked.py", "marked.py")
    cookbook.replace("docs/zh/training/unmarked.md", "unmarked.py", "marked.py")
    (cookbook.root / "snippets/training/unmarked.py").unlink()
    cookbook.recipe("alone", PRINT)
    (cookbook.root / "docs/zh/training/alone.md").unlink()
    counter = cookbook.root / "counter"
    os.mkfifo(counter)  # a block writes to no file outside its own folders
    reader = os.open(counter, os.O_RDONLY | os.O_NONBLOCK)
    run = cookbook.pytest("-o", "block_timeout=2", COUNT_FILE=str(counter))
    run.counted = os.read(reader, 10).decode()
    os.close(reader)
    return run


def test_a_failing_assert_shows_place_pages_traceback_and_stderr(batch):
    assert batch.code == 1
    status, text = batch.of("assert-fails")
    assert status == "failure"
    assert "snippets/training/assert_fails.py:8: exited with code 1\n" in text
    for lang in ("en", "zh"):
        assert f"\n  docs/{lang}/training/assert-fails.md:8\n" in text
    assert 'snippets/training/assert_fails.py", line 12, in <module>\n' in text
    assert 'assert total == 3, "a sum"' in text
    assert "AssertionError: a sum" in text
    assert "\n--- stderr\nso far\n" in text
    assert "snippets/training/assert_fails.py:8: exited with code 1" in batch.stdout
    assert "cookbook/running/collector.py" not in batch.stdout


@pytest.mark.parametrize(
    ("slug", "message"),
    {
        "raises": "snippets/training/raises.py:4: exited with code 1",
        "exits": "snippets/training/exits.py:1: left before its last line; "
        "remove what ends it",
        "hangs": "snippets/training/hangs.py:1: still running after 2 s; killed",
        "prints-otherwise": "snippets/training/prints_otherwise.py:1: printed "
        "otherwise than snippets/training/prints_otherwise.out; "
        "if right, pytest --record\n--- recorded\n+++ printed\n@@ -1 +1 @@\n"
        "-old\n+new\n",
        "needs-package": "snippets/training/needs_package.py:3: needs "
        "no_such_package, which is not installed here",
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


def test_a_command_that_fails_inside_a_pipe_fails_the_block(batch):
    status, text = batch.of("shell", "line 17")
    assert status == "failure"
    assert "docs/en/training/shell.md:17: exited with code 1" in text


NEEDS = "needs a GPU: run make test-gpu"


@pytest.mark.parametrize(
    ("item", "reason"),
    [("marked.py", NEEDS), ("line 14", "it resets the GPU"), ("line 19", NEEDS)],
)
def test_a_marked_block_is_not_run_and_says_why(batch, item, reason):
    status, text = batch.of("marked", item)
    assert status == "skipped"
    assert reason in text
    assert re.search(rf"^SKIPPED .*marked\.md: {reason}$", batch.stdout, re.M)


def test_a_page_that_would_not_run_as_shown_stops_the_run(tiny_cookbook):
    cookbook = tiny_cookbook()
    cookbook.replace("docs/en/training/label-smoothing.md", "```python", "```py")
    cookbook.recipe("missing", PRINT)
    (cookbook.root / "snippets/training/missing.py").unlink()
    cookbook.recipe("tildes", PRINT, after="\n~~~bash\nls\n~~~\n")
    refused = cookbook.pytest()
    assert refused.code == 2
    for message in (
        "label-smoothing.md:8: P206 a block of ```py would be shown but not run; write",
        "tildes.md:12: P210 ~~~bash begins a block",
        'missing.md:9: P203 no snippet training/missing.py; write --8<-- "<category>/',
    ):
        assert f"docs/en/training/{message}" in refused.stdout
    assert "passed" not in refused.stdout


def test_record_writes_updates_and_removes_output(cookbook):
    outputs = cookbook.root / "snippets/training"
    cookbook.recipe("fails", '"""Fail."""\n\nprint("half")\nassert False\n')
    cookbook.recipe("prints", PRINT)
    cookbook.recipe("printed", PRINT)
    for name in ("fails", "printed", "label_smoothing"):
        cookbook.write(f"snippets/training/{name}.out", "old\n")
    run = cookbook.pytest("--record")
    assert run.code == 1
    assert run.of("fails")[0] == "failure"
    assert run.of("prints") == run.of("printed") == ("passed", "")
    recorded = {file.stem: file.read_text() for file in outputs.glob("*.out")}
    assert recorded == {"fails": "old\n", "printed": "2\n", "prints": "2\n"}


def test_the_gpu_run_fails_where_there_is_no_gpu(cookbook):
    cookbook.recipe("marked", PRINT, before="<!--pytest.mark.gpu-->\n")
    run = cookbook.pytest("--gpu", CUDA_VISIBLE_DEVICES="")
    assert run.code != 0
    assert "--gpu: torch finds no GPU on this machine" in run.stderr
    assert "skipped" not in run.stdout
    assert run.outcomes == {}


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


def verified(cookbook, *options: str) -> dict:
    """The record that a failing run writes."""
    assert cookbook.pytest("--verify", *options).code == 1
    (file,) = (cookbook.root / "verified").glob("cpu-*.json")
    return json.loads(file.read_text("utf-8"))


def test_a_record_holds_what_was_run_and_what_passed_is_not_run_again(tiny_cookbook):
    """A block that lacks a package is not run.

    In a namespace no block can kill its lane; elsewhere it fails, and the lane is
    replaced.
    """
    cookbook = tiny_cookbook()
    for slug in ("needs-package", "raises"):
        cookbook.recipe(slug, FAULTY[slug])
    cookbook.recipe("edited", cookbook.CLAIM)
    cookbook.recipe("a-kills", "import os\nos.kill(os.getppid(), 9)\nassert True\n")
    run = cookbook.pytest("--verify")
    (file,) = (cookbook.root / "verified").glob("cpu-*.json")
    document = json.loads(file.read_text("utf-8"))
    status, text = run.of("a-kills")
    assert status == "passed" or "ended its own lane" in text
    assert statuses(document) == {
        "label_smoothing": "passed",
        "edited": "passed",
        "raises": "failed",
        "a_kills": status.replace("failure", "failed"),
    }
    assert not document["complete"]

    cookbook.recipe("new", cookbook.CLAIM)
    cookbook.replace("snippets/training/edited.py", "== 2", "== 2  # edited")
    run = cookbook.pytest("--unrecorded")
    status, reason = run.of("label-smoothing")
    assert status == "skipped"
    assert re.search(
        r"passed here already, on [\d-]+ \(verified/cpu-.*\.json\)", reason
    )
    for slug, expected in (("raises", "failure"), ("edited", "passed")):
        assert run.of(slug)[0] == expected
    assert run.of("new") == ("passed", "")


def test_a_run_that_is_stopped_records_what_was_judged(tiny_cookbook):
    cookbook = tiny_cookbook()
    cookbook.recipe("a-first", FAULTY["raises"])
    cookbook.write("snippets/training/label_smoothing.out", "never printed\n")
    document = verified(cookbook, "-x")
    assert statuses(document) == {"a_first": "failed"}
    assert not document["complete"]


@pytest.mark.parametrize(
    ("level", "said"),
    [
        (namespaces.ALL, []),
        (namespaces.NETWORK, ["blocks could write anywhere"]),
        (namespaces.NOTHING, ["blocks could write anywhere", "have used the network"]),
        (None, []),  # no block ran
    ],
)
def test_the_end_of_a_run_says_what_was_not_contained(level, said):
    lines = []
    reporter = SimpleNamespace(write_line=lines.append)
    stash = {collector.runner_key: SimpleNamespace(level=level)}
    collector.pytest_terminal_summary(reporter, SimpleNamespace(stash=stash))
    assert len(lines) == bool(said)
    assert all(part in lines[0] for part in said)


def test_a_split_run_merged_is_one_run(tiny_cookbook):
    cookbook = tiny_cookbook()
    for slug in ("first", "second"):
        cookbook.recipe(slug, cookbook.CLAIM)
    cookbook.recipe("raises", FAULTY["raises"])
    parts = []
    for group in ("1", "2"):
        cookbook.pytest("--verify", "--splits", "2", "--group", group)
        (file,) = (cookbook.root / "verified").glob("cpu-*.json")
        assert not json.loads(file.read_text("utf-8"))["complete"]
        parts.append(cookbook.root / "parts" / group / file.name)
        parts[-1].parent.mkdir(parents=True)
        file.rename(parts[-1])
    done = cookbook.command("cookbook", "merge", *map(str, parts))
    assert (done.returncode, done.stderr) == (0, "")
    merged = json.loads(file.read_text("utf-8"))
    names = ("label_smoothing", "first", "second")
    assert statuses(merged) == {"raises": "failed", **dict.fromkeys(names, "passed")}
    assert merged["complete"] is True
    assert merged["environment"] == json.loads(parts[0].read_text())["environment"]


def test_workers_are_for_tests_and_not_for_blocks(tiny_cookbook):
    cookbook = tiny_cookbook()
    run = cookbook.pytest("-n", "2")
    assert run.code == pytest.ExitCode.USAGE_ERROR
    assert "-n: blocks have a lane for each core already" in run.stderr
