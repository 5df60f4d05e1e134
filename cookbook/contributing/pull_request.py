"""The report on a pull request: one comment, kept up to date, and labels.

Two halves. ``summarise`` runs beside the pull request's own code, without any
right, and writes down what happened. ``post`` runs from the main branch with the
right to comment: to it that summary is a stranger's file, so everything in it is
checked, and shown as plain text. Nothing has to be installed for it.
"""

import argparse
import io
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
import zipfile
from pathlib import Path

from cookbook.rules import ERROR, RULES

QUICK, FULL = "Pull request", "Tests"  # the names of the workflows
SUMMARY, PREVIEW = "summary", "preview"  # and of the artifacts
MARKER = "<!-- pull-request-report -->"
BOT = "github-actions[bot]"
SIGNS = {"passed": "✓", "failed": "✗", "skipped": "–"}
MAX_BYTES = 200_000
MAX_ROWS, MAX_CELL, MAX_FAILURE = 60, 120, 4000
PAGE = re.compile(r"(en|zh)/[a-z0-9-]+/[a-z0-9-]+/")
PROBLEM = re.compile(r"^ *(\S+:\d+: (?P<code>[A-Z]\d+) .*)$", re.MULTILINE)
FIXED_LABELS = (
    ("docs/en/", "English"),
    ("docs/zh/", "中文"),
    ("cookbook/", "engine"),
    ("docs/overrides/", "site"),
    (".github/", "workflows"),
    ("requirements", "dependencies"),
)
CATEGORY = re.compile(r"(?:docs/(?:en|zh)|snippets|tests/snippets)/([a-z0-9-]+)/.")


class ReportError(Exception):
    """The summary is not what ``summarise`` writes."""


# Beside the pull request's code


def summarise(number: int, folder: Path) -> dict:
    """What the run left in a folder: junit.xml, check.txt and paths.txt."""
    blocks, failure = outcomes(folder / "junit.xml")
    check = found_by_check(text_of(folder / "check.txt"))
    paths = text_of(folder / "paths.txt").split()
    return {
        "number": number,
        "blocks": blocks,
        "failure": (check or failure)[:MAX_FAILURE],
        "pages": list(filter(PAGE.fullmatch, map(address, paths))),
    }


def text_of(file: Path) -> str:
    """A file's text; empty where an earlier step has failed."""
    return file.read_text("utf-8", "replace") if file.exists() else ""


def found_by_check(printed: str) -> str:
    """What make check found wrong: its errors, else what a tool printed last."""
    if printed.strip().splitlines()[-1:] == ["all in order"]:
        return ""
    errors = [
        problem[1]
        for problem in PROBLEM.finditer(printed)
        if problem["code"] in RULES and RULES[problem["code"]].severity == ERROR
    ]
    return "\n".join(errors) or printed[-MAX_FAILURE:]


def address(path: str) -> str:
    """Where the site shows a page: docs/en/a/b.md is at en/a/b/."""
    return path.removeprefix("docs/").removesuffix(".md") + "/"


def outcomes(report: Path) -> tuple[list[list[str]], str]:
    """[file, name, status] of each test, and the first failure in full."""
    blocks, failure = [], ""
    if not report.exists():
        return blocks, failure
    for case in ElementTree.parse(report).iter("testcase"):
        failed = case.find("failure")
        failed = case.find("error") if failed is None else failed
        status = "passed" if case.find("skipped") is None else "skipped"
        if failed is not None:
            status = "failed"
            failure = failure or (failed.text or failed.get("message", ""))
        file = file_of(case.get("classname", ""))
        blocks.append([file, case.get("name", ""), status])
    return blocks, failure


def file_of(module: str) -> str:
    """The file of what pytest's report calls docs.en.a.b.md, or tests.a.test_b."""
    path = module.replace(".", "/")
    return f"{path[:-3]}.md" if path.endswith("/md") else f"{path}.py"


# From the main branch


def read_summary(archive: bytes) -> dict:
    """The summary inside the artifact, checked.

    Raises:
        ReportError: it is too large, or not of the form ``summarise`` gives it.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as files:
            text = files.open(f"{SUMMARY}.json").read(MAX_BYTES + 1)
    except (zipfile.BadZipFile, KeyError) as error:
        raise ReportError(f"no {SUMMARY}.json in the artifact") from error
    if len(text) > MAX_BYTES:
        raise ReportError(f"{SUMMARY}.json has more than {MAX_BYTES} bytes")
    try:
        summary = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReportError(f"{SUMMARY}.json is not JSON") from error
    if not is_summary(summary):
        raise ReportError(f"{SUMMARY}.json is not of the form that is expected")
    return summary


def is_summary(value: object) -> bool:
    """Whether a document has the fields of a summary, and nothing unexpected."""
    if not isinstance(value, dict):
        return False
    if value.keys() != {"number", "blocks", "failure", "pages"}:
        return False
    number, blocks, pages = value["number"], value["blocks"], value["pages"]
    return (
        type(number) is int
        and number > 0
        and isinstance(value["failure"], str)
        and isinstance(blocks, list)
        and all(is_block(block) for block in blocks)
        and isinstance(pages, list)
        and all(isinstance(page, str) and PAGE.fullmatch(page) for page in pages)
    )


def is_block(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 3
        and all(isinstance(part, str) for part in value)
        and value[2] in SIGNS
    )


def render(summary: dict, preview: str | None, runs: dict[str, dict]) -> str:
    """The comment's Markdown.

    Args:
        summary: as ``read_summary`` returns it.
        preview: the address of the built site's artifact, if there is one.
        runs: GitHub's description of the newest run of each workflow, by name.
    """
    sections = [
        [MARKER],
        _runs(runs),
        _failure(summary["failure"]),
        _blocks(summary["blocks"]),
        _preview(summary["pages"], preview),
    ]
    return "\n\n".join("\n".join(section) for section in sections if section) + "\n"


def _runs(runs: dict[str, dict]) -> list[str]:
    titles = {
        QUICK: "What this changes · 本次改动涉及的内容",
        FULL: "Everything · 全部测试",
    }
    lines = []
    for name, title in titles.items():
        run = runs.get(name, {})
        state = run.get("conclusion") or run.get("status") or "not started"
        sign = {"success": "✓", "failure": "✗"}.get(state, "…")
        link = f"[{state}]({run['html_url']})" if run else state
        lines.append(f"- {sign} **{title}**: {link}")
    return lines


def _failure(failure: str) -> list[str]:
    if not failure:
        return []
    longest = max(map(len, re.findall("`+", failure)), default=0)
    fence = "`" * max(3, longest + 1)
    text = failure[:MAX_FAILURE].strip("\n")
    return [
        "### The first failure · 首个失败",
        "",
        f"{fence}text",
        text,
        fence,
        "",
        "CONTRIBUTING.md explains the messages · 各条提示的含义见 CONTRIBUTING.zh.md",
    ]


def _blocks(blocks: list[list[str]]) -> list[str]:
    if not blocks:
        return ["No block was run · 没有运行代码块"]
    order = list(SIGNS)
    failed_first = sorted(blocks, key=lambda block: block[2] != "failed")
    counts = [f"{sum(b[2] == status for b in blocks)} {status}" for status in order]
    rows = [
        f"| {SIGNS[status]} | {code(file)} | {code(name)} |"
        for file, name, status in failed_first[:MAX_ROWS]
    ]
    more = len(blocks) - len(rows)
    return [
        f"<details><summary>{', '.join(counts)}</summary>",
        "",
        "| | file · 文件 | block or test · 代码块或测试 |",
        "| :-: | --- | --- |",
        *rows,
        *([f"| | and {more} more | |"] if more else []),
        "",
        "– is a block for a GPU; a maintainer runs it · – 需要 GPU，由维护者运行",
        "",
        "</details>",
    ]


def _preview(pages: list[str], preview: str | None) -> list[str]:
    if not preview:
        return []
    return [
        "### Preview · 预览",
        "",
        f"Unpack [the built site]({preview}), run `python3 -m http.server` in it, and "
        f"open · 解压[构建好的网站]({preview})，在其中运行 "
        "`python3 -m http.server`，然后打开：",
        "",
        *(f"- `http://127.0.0.1:8000/{page}`" for page in pages[:MAX_ROWS] or [""]),
    ]


def code(text: str) -> str:
    """A stranger's text in a table's cell: no Markdown, no mention, no HTML."""
    plain = re.sub(r"[`|\\\s]+", " ", text).strip()
    return f"`{plain[:MAX_CELL] or ' '}`"


def labels(files: list[str], root: Path) -> list[str]:
    """The labels for the files that a pull request changes."""
    found = set()
    for start, label in FIXED_LABELS:
        if any(file.startswith(start) for file in files):
            found.add(label)
    named = (CATEGORY.match(file) for file in files)
    categories = {match[1] for match in named if match}
    # A folder that main does not have is no category yet.
    found |= {name for name in categories if (root / "snippets" / name).is_dir()}
    return sorted(found)


def post(repository: str, commit: str, root: Path) -> None:
    """Write or update the comment on the pull request that a commit heads."""
    runs = newest_runs(repository, commit)
    if QUICK not in runs:
        return
    artifacts = api(f"repos/{repository}/actions/runs/{runs[QUICK]['id']}/artifacts")
    by_name = {each["name"]: each for each in artifacts["artifacts"]}
    if SUMMARY not in by_name:
        return  # not that far yet, or not allowed to run
    if by_name[SUMMARY]["size_in_bytes"] > MAX_BYTES:
        raise ReportError(f"the artifact {SUMMARY} has more than {MAX_BYTES} bytes")
    identifier = by_name[SUMMARY]["id"]
    archive = gh(f"repos/{repository}/actions/artifacts/{identifier}/zip")
    summary = read_summary(archive)
    number = summary["number"]
    pull = api(f"repos/{repository}/pulls/{number}")
    if pull["head"]["sha"] != commit:
        return  # another pull request's number, or a newer push has come
    preview = None
    if PREVIEW in by_name:
        preview = f"{runs[QUICK]['html_url']}/artifacts/{by_name[PREVIEW]['id']}"
    comment(repository, number, render(summary, preview, runs))
    files = pages_of(f"repos/{repository}/pulls/{number}/files")
    wanted = labels([file["filename"] for file in files], root)
    if wanted:
        api(f"repos/{repository}/issues/{number}/labels", "POST", {"labels": wanted})


def newest_runs(repository: str, commit: str) -> dict[str, dict]:
    """The newest run of each workflow for a pull request's commit, by name."""
    query = f"head_sha={commit}&event=pull_request&per_page=100"
    found = api(f"repos/{repository}/actions/runs?{query}")["workflow_runs"]
    return {run["name"]: run for run in sorted(found, key=lambda run: run["id"])}


def comment(repository: str, number: int, body: str) -> None:
    """Update the comment that carries our marker; write it where there is none."""
    where = f"repos/{repository}/issues"
    for one in pages_of(f"{where}/{number}/comments"):
        if one["user"]["login"] == BOT and one["body"].startswith(MARKER):
            api(f"{where}/comments/{one['id']}", "PATCH", {"body": body})
            return
    api(f"{where}/{number}/comments", "POST", {"body": body})


def pages_of(path: str) -> list[dict]:
    """All items of a list that GitHub gives page by page."""
    pages = json.loads(gh(f"{path}?per_page=100", "--paginate", "--slurp"))
    return [item for page in pages for item in page]


def api(path: str, method: str = "GET", data: dict | None = None) -> dict:
    """GitHub's answer to a request."""
    if data is None:
        return json.loads(gh(path, "--method", method))
    text = json.dumps(data).encode()
    return json.loads(gh(path, "--method", method, "--input", "-", data=text))


def gh(path: str, *options: str, data: bytes | None = None) -> bytes:
    """What ``gh api`` prints; gh takes the token from its environment."""
    command = ["gh", "api", path, *options]
    done = subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True)
    return done.stdout


def main() -> int:
    program = "python -m cookbook.contributing.pull_request"
    parser = argparse.ArgumentParser(prog=program)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("summarise").add_argument("number", type=int)
    commands.add_parser("post").add_argument("commit")
    arguments = parser.parse_args()
    if arguments.command == "summarise":
        print(json.dumps(summarise(arguments.number, Path.cwd())))
        return 0
    try:
        post(os.environ["GH_REPO"], arguments.commit, Path.cwd())
    except ReportError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
