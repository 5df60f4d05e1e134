"""The report on a pull request says what happened, and trusts nothing it reads."""

import io
import json
import subprocess
import sys
import zipfile

import pytest

from cookbook.contributing import pull_request
from cookbook.contributing.pull_request import ReportError
from tests.helpers import ROOT

COMMIT, NUMBER = "c0ffee", 12
RUNS = {
    "Pull request": {"conclusion": "failure", "html_url": "https://h/runs/1"},
    "Tests": {"status": "in_progress", "conclusion": None, "html_url": "https://h/2"},
}
SUMMARY = {
    "number": NUMBER,
    "blocks": [
        ["docs/en/training/mixup.md", "mixup.py", "passed"],
        ["docs/en/training/mixup.md", "shown = run", "failed"],
        ["docs/en/setup/empty-cache.md", "empty_cache_gpu.py", "skipped"],
    ],
    "failure": "docs/en/training/mixup.md:9: P204 Python typed into a page; put it",
    "pages": ["en/training/mixup/"],
}


# Beside the pull request's code


def test_the_summary_names_every_block_and_the_first_failure(cookbook, tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    cookbook.recipe("broken", "assert 1 + 1 == 3\n", before="<!--pytest.mark.gpu-->\n")
    cookbook.replace("docs/en/training/broken.md", "<!--pytest.mark.gpu-->\n", "")
    report = folder / "junit.xml"
    run = cookbook.pytest(f"--junitxml={report}", "-k", "py")
    assert run.code == 1
    (folder / "check.txt").write_text("structure\nall in order\n")
    (folder / "paths.txt").write_text(
        "docs/en/training/broken.md\ntests/snippets/training/test_broken.py\n"
        "docs/en/training/Label_Smoothing.md\ndocs/en/training\n"
    )
    summary = pull_request.summarise(NUMBER, folder)
    assert summary["blocks"] == [
        ["docs/en/training/broken.md", "broken.py", "failed"],
        ["docs/en/training/label-smoothing.md", "label_smoothing.py", "passed"],
        ["docs/zh/training/broken.md", "broken.py", "skipped"],
        ["docs/zh/training/label-smoothing.md", "label_smoothing.py", "passed"],
    ]
    assert summary["failure"].startswith("snippets/training/broken.py:1: exited with")
    assert "AssertionError" in summary["failure"]
    assert summary["pages"] == ["en/training/broken/"]
    assert pull_request.is_summary(summary)


def test_what_make_check_found_comes_first(tmp_path):
    problem = "docs/en/training/mixup.md:9: P204 Python typed into a page; put it …"
    (tmp_path / "check.txt").write_text(f"structure\n  {problem}\n\n1 problems above\n")
    (tmp_path / "junit.xml").write_text(
        '<testsuite><testcase classname="a" name="b"><failure>another</failure>'
        "</testcase></testsuite>"
    )
    summary = pull_request.summarise(NUMBER, tmp_path)
    assert summary["failure"] == problem
    assert summary["blocks"] == [["a.py", "b", "failed"]]


CHECKED = {
    "passed with a warning": ("  a.md:1: T106 nobody yet; x\nall in order\n", ""),
    "a warning and an error": (
        "  a.md:1: T106 nobody yet; x\n  a.md:2: P106 no title; write one\n\n1 problem",
        "a.md:2: P106 no title; write one",
    ),
    "a problem that speaks of order": (
        "  a.md:2: P106 no all in order; write one\n\n1 problem",
        "a.md:2: P106 no all in order; write one",
    ),
    "a tool": ("ruff check\nE501 Line too long", "ruff check\nE501 Line too long"),
}


@pytest.mark.parametrize("name", CHECKED)
def test_the_failure_is_what_check_found_wrong(tmp_path, name):
    printed, expected = CHECKED[name]
    (tmp_path / "check.txt").write_text(printed)
    assert pull_request.summarise(NUMBER, tmp_path)["failure"] == expected


def test_a_run_that_broke_off_at_once_has_a_summary(tmp_path):
    summary = pull_request.summarise(NUMBER, tmp_path)
    assert summary == {"number": NUMBER, "blocks": [], "failure": "", "pages": []}
    assert "No block was run" in pull_request.render(summary, None, RUNS)


# From the main branch


def archive(content: object, name: str = "summary.json") -> bytes:
    text = content if isinstance(content, str) else json.dumps(content)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as files:
        files.writestr(name, text)
    return file.getvalue()


def changed(**fields) -> dict:
    return {**SUMMARY, **fields}


BAD = {
    "no archive": (b"PK", "no summary.json in the artifact"),
    "another file": (archive(SUMMARY, "x.json"), "no summary.json in the artifact"),
    "a bomb": (archive(" " * 10**7), "summary.json has more than 200000 bytes"),
    "no JSON": (archive("{"), "summary.json is not JSON"),
    "JSON without an end": (archive("[" * 100_000), "summary.json is not JSON"),
    "a list": (archive([]), "not of the form"),
    "a field more": (archive(changed(x=1)), "not of the form"),
    "a field less": (archive({"number": 1}), "not of the form"),
    "number as text": (archive(changed(number="12/../../x")), "not of the form"),
    "number as truth": (archive(changed(number=True)), "not of the form"),
    "number below one": (archive(changed(number=0)), "not of the form"),
    "unknown status": (archive(changed(blocks=[["a", "b", "ok"]])), "not of the form"),
    "block as text": (archive(changed(blocks=["abc"])), "not of the form"),
    "failure as a list": (archive(changed(failure=["x"])), "not of the form"),
    "page as a link": (archive(changed(pages=["https://x.org/"])), "not of the form"),
    "page elsewhere": (archive(changed(pages=["en/../../x/"])), "not of the form"),
    "page with more": (archive(changed(pages=["en/a/b/\n# x"])), "not of the form"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_summary_of_another_form_is_refused(name):
    data, message = BAD[name]
    with pytest.raises(ReportError, match=message):
        pull_request.read_summary(data)


def test_a_sound_summary_is_read():
    assert pull_request.read_summary(archive(SUMMARY)) == SUMMARY


def test_the_comment_says_what_happened():
    text = pull_request.render(SUMMARY, "https://h/runs/1/artifacts/5", RUNS)
    lines = text.splitlines()
    assert lines[0] == "<!-- pull-request-report -->"
    assert any("[failure](https://h/runs/1)" in line for line in lines)
    assert any("[in_progress](https://h/2)" in line for line in lines)
    assert f"```text\n{SUMMARY['failure']}\n```" in text
    assert "1 passed, 1 failed, 1 skipped" in text
    rows = [line for line in lines if line.startswith(("| ✓", "| ✗", "| –"))]
    assert rows == [
        "| ✗ | `docs/en/training/mixup.md` | `shown = run` |",
        "| ✓ | `docs/en/training/mixup.md` | `mixup.py` |",
        "| – | `docs/en/setup/empty-cache.md` | `empty_cache_gpu.py` |",
    ]
    assert "](https://h/runs/1/artifacts/5)" in text
    assert "- `http://127.0.0.1:8000/en/training/mixup/`" in lines


def test_a_stranger_s_words_stay_words():
    evil = "`](x) | @everyone <img src=x>\n# Heading ```"
    summary = changed(
        blocks=[[evil, evil, "failed"]] * 100, failure=f"{evil}\n````\n@everyone"
    )
    text = pull_request.render(summary, None, RUNS)
    fence = next(line for line in text.splitlines() if line.endswith("`text"))
    assert fence == "`````text"  # longer than any inside
    inside = text.partition(f"{fence}\n")[2].partition("\n" + fence[:-4] + "\n")
    assert inside[0] == summary["failure"]
    assert "@everyone" not in inside[2].replace("`](x) @everyone <img", "")
    rows = [line for line in inside[2].splitlines() if line.startswith("| ✗")]
    assert len(rows) == 60
    assert {row.count("`") for row in rows} == {4}
    assert {row.count("|") for row in rows} == {4}
    assert "and 40 more" in text


def test_the_comment_fits_what_github_takes():
    long = "x" * 1000
    summary = changed(blocks=[[long, long, "failed"]] * 500, failure="y" * 10**5)
    summary["pages"] = [f"en/a/{'b' * 80}/"] * 500
    assert len(pull_request.render(summary, None, RUNS)) < 65_536


def test_labels_follow_from_the_paths():
    files = [
        "docs/zh/training/mixup.md",
        "snippets/models/init_weights.py",
        "tests/snippets/setup/test_empty_cache.py",
        "snippets/never-seen/x.py",
        ".github/CODEOWNERS",
    ]
    expected = ["models", "setup", "training", "workflows", "中文"]
    assert pull_request.labels(files, ROOT) == expected
    assert pull_request.labels(["README.md"], ROOT) == []


# What is asked of GitHub

GH = """#!{python}
import json, pathlib, sys
folder = pathlib.Path({folder!r})
path, *options = sys.argv[2:]
data = sys.stdin.read() if "--input" in options else ""
method = options[options.index("--method") + 1] if "--method" in options else "GET"
with (folder / "calls").open("a") as calls:
    calls.write(json.dumps([method, path.partition("?")[0], data]) + "\\n")
answers = json.loads((folder / "answers").read_text())
if path.endswith("/zip"):
    sys.stdout.buffer.write((folder / "archive").read_bytes())
else:
    print(json.dumps(answers.get(path.partition("?")[0], {{}})))
"""
REPO = "repos/o/r"


@pytest.fixture
def github(tmp_path, monkeypatch):
    """A stand-in for gh; answers what was asked to be written, call by call."""
    (tmp_path / "gh").write_text(GH.format(python=sys.executable, folder=str(tmp_path)))
    (tmp_path / "gh").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    run = {"id": 1, "name": "Pull request", **RUNS["Pull request"]}
    answers = {
        f"{REPO}/actions/runs": {
            "workflow_runs": [run, {"id": 2, "name": "Tests", **RUNS["Tests"]}]
        },
        f"{REPO}/actions/runs/1/artifacts": {
            "artifacts": [
                {"id": 5, "name": "summary", "size_in_bytes": 300},
                {"id": 6, "name": "preview", "size_in_bytes": 10**7},
            ]
        },
        f"{REPO}/pulls/12": {"head": {"sha": COMMIT}},
        f"{REPO}/pulls/12/files": [[{"filename": "docs/en/training/mixup.md"}], []],
        f"{REPO}/issues/12/comments": [[]],
    }

    def post(**changes) -> list:
        answers.update(changes.pop("answers", {}))
        (tmp_path / "answers").write_text(json.dumps(answers))
        (tmp_path / "archive").write_bytes(archive(changes.pop("summary", SUMMARY)))
        pull_request.post("o/r", COMMIT, ROOT)
        calls = (tmp_path / "calls").read_text().splitlines()
        return [call for call in map(json.loads, calls) if call[0] != "GET"]

    return post


def test_the_first_report_is_a_new_comment_with_labels(github):
    comment, labels = github()
    assert comment[:2] == ["POST", f"{REPO}/issues/12/comments"]
    body = json.loads(comment[2])["body"]
    assert body.startswith(pull_request.MARKER)
    assert "https://h/runs/1/artifacts/6" in body
    assert labels[:2] == ["POST", f"{REPO}/issues/12/labels"]
    assert json.loads(labels[2]) == {"labels": ["English", "training"]}


def comments(*pairs: tuple[str, str]) -> dict:
    listed = [
        {"id": number, "user": {"login": login}, "body": body}
        for number, (login, body) in enumerate(pairs, start=70)
    ]
    return {f"{REPO}/issues/12/comments": [listed[:1], listed[1:]]}


def test_the_second_report_replaces_ours_and_nobody_else_s(github):
    ours = (pull_request.BOT, f"{pull_request.MARKER}\nold")
    others = (("a", f"{pull_request.MARKER}\nx"), (pull_request.BOT, "another bot"))
    comment, _ = github(answers=comments(*others, ours))
    assert comment[:2] == ["PATCH", f"{REPO}/issues/comments/72"]


def test_another_pull_request_s_number_is_not_written_to(github):
    other = {f"{REPO}/pulls/12": {"head": {"sha": "another"}}}
    assert github(answers=other) == []


def test_without_a_summary_nothing_is_written(github):
    none = {f"{REPO}/actions/runs/1/artifacts": {"artifacts": []}}
    assert github(answers=none) == []


def test_a_run_of_the_tests_alone_writes_nothing(github):
    runs = {f"{REPO}/actions/runs": {"workflow_runs": [{"id": 2, "name": "Tests"}]}}
    assert github(answers=runs) == []


def test_a_large_artifact_is_not_fetched(github):
    large = [{"id": 5, "name": "summary", "size_in_bytes": 10**9}]
    answers = {f"{REPO}/actions/runs/1/artifacts": {"artifacts": large}}
    with pytest.raises(ReportError, match="more than 200000 bytes"):
        github(answers=answers)


def test_the_report_needs_nothing_that_is_installed():
    """The workflow that may write installs nothing; -S hides what is installed."""
    module = "cookbook.contributing.pull_request"
    command = [sys.executable, "-S", "-m", module, "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
