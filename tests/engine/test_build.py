"""``mkdocs build`` publishes the whole site, or says what is wrong and nothing.

``mkdocs serve`` shows what is unfinished, too.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from http.client import HTTPException
from urllib.request import urlopen

import pytest

from tests.engine.plants import PAGE, TWIN

PAGES = (PAGE, TWIN)


@pytest.fixture
def build(cookbook):
    """Builds as ``make site`` does, with scratch/ for temporary files."""
    scratch = cookbook.root / "scratch"
    scratch.mkdir()

    def build(option: str = "--strict"):
        done = cookbook.command("mkdocs", "build", option, TMPDIR=str(scratch))
        return done.returncode, done.stdout + done.stderr

    return build


def snapshot(folder) -> dict:
    """Every file below a folder: its content and when it was written."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def test_a_sound_cookbook_is_built_then_kept_when_a_fault_stops_the_build(
    cookbook, build
):
    site, scratch = cookbook.root / "site", cookbook.root / "scratch"
    code, output = build()
    assert code == 0, output
    for lang in ("en", "zh"):
        html = (site / lang / "training/label-smoothing/index.html").read_text("utf-8")
        assert "Add two numbers" in html
    (recipe,) = json.loads((site / "recipes.json").read_text("utf-8"))["recipes"]
    assert recipe["slug"] == "label-smoothing"
    code, output = build("--dirty")  # replaces what the first one left
    assert code == 0, output
    assert not (site / "en/en").exists()
    before = snapshot(site)

    # One fault that the checks find, and one that only MkDocs finds, late.
    cookbook.replace(PAGES[0], "```python", "```py")
    code, output = build()
    assert code != 0
    assert f"{PAGES[0]}:8: P206 a block of ```py would be shown but not run" in output
    assert "Traceback" not in output
    assert snapshot(site) == before

    link = "[gone](../training/)\n\n```python"
    cookbook.replace(PAGES[0], "```py", link)
    cookbook.replace(PAGES[1], "```python", link)
    code, output = build()
    assert code != 0
    fault = "'training/label-smoothing.md' contains an unrecognized relative link"
    assert output.count(fault) == 2
    assert "Not built, for the reasons above: en, zh" in output
    assert snapshot(site) == before
    assert list(scratch.iterdir()) == []


def start(cookbook, *argv: str) -> subprocess.Popen:
    """Start MkDocs as a terminal does; temporary files go to scratch/."""
    (cookbook.root / "scratch").mkdir(exist_ok=True)
    with (cookbook.root / "log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "mkdocs", *argv],
            cwd=cookbook.root,
            env={**os.environ, "TMPDIR": str(cookbook.root / "scratch")},
            stdout=log,
            stderr=log,
            start_new_session=True,
            # Ignored in what a shell starts with &, and then in all that this starts.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )


def wait_for(condition, process, seconds: float = 240):
    """What the condition answers, once that is something."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert process.poll() is None, "MkDocs has ended"
        assert time.monotonic() < end, f"not within {seconds} s"
        time.sleep(0.1)
    return found


def test_an_interrupted_build_leaves_nothing_behind(cookbook):
    process = start(cookbook, "build", "--strict")
    scratch = cookbook.root / "scratch"
    wait_for(lambda: list(scratch.glob("*/*/assets")), process)  # a language is begun
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(60) != 0
    assert list(scratch.iterdir()) == []
    assert not (cookbook.root / "site").exists()


class Server:
    """``mkdocs serve`` in a cookbook."""

    def __init__(self, cookbook):
        self.cookbook = cookbook
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        self.process = start(cookbook, "serve", "--dev-addr", self.address)

    @property
    def log(self) -> str:
        return (self.cookbook.root / "log").read_text("utf-8")

    def get(self, page: str) -> str:
        """A page as it is now; nothing while the server is not up."""
        try:
            with urlopen(f"http://{self.address}/{page}/", timeout=240) as answer:
                return answer.read().decode()
        except (OSError, HTTPException):
            return ""

    def page_with(self, page: str, text: str) -> str:
        """The page, once it has the text."""

        def found() -> str:
            html = self.get(page)
            return html if text in html else ""

        return wait_for(found, self.process)

    def page_without(self, page: str, text: str) -> str:
        """The page, once it has the text no more."""

        def found() -> str:
            html = self.get(page)
            return html if html and text not in html else ""

        return wait_for(found, self.process)


@pytest.fixture
def serve(cookbook):
    """Starts the server when the test has planted its pages; stops it."""
    servers = []

    def serve() -> Server:
        servers.append(Server(cookbook))
        return servers[0]

    yield serve
    for server in servers:
        os.killpg(server.process.pid, signal.SIGINT)
        server.process.wait(60)
    assert list((cookbook.root / "scratch").iterdir()) == []


GOOD = "en/training/label-smoothing"
OPEN_FENCE = "```text\nnever closed\n"
NO_SNIPPET = '```python\n--8<-- "training/none.py"\n```\n'


def test_unfinished_pages_are_served_below_their_problems(cookbook, serve):
    cookbook.recipe("no-id", cookbook.CLAIM, after="\n## Heading\n")
    cookbook.recipe("open-fence", cookbook.CLAIM, after=f"\n{OPEN_FENCE}")
    cookbook.recipe("no-snippet", cookbook.CLAIM, after=f"\n{NO_SNIPPET}")
    cookbook.recipe("no-yaml", cookbook.CLAIM)
    cookbook.replace("docs/en/training/no-yaml.md", "Use it", "Use: it")
    cookbook.recipe("no-python", "def (:\n")
    cookbook.write(
        "docs/en/index.md", '---\ntemplate: home.html\n---\n--8<-- "no.md"\n'
    )
    server = serve()

    page = server.page_with("en/training/no-id", "This page is not finished")
    assert "<li>12: P302 a heading without an id" in page
    assert "language-python" in page
    page = server.get("zh/training/no-id")
    assert "本页尚未完成" in page
    assert "<li>12: P302 小节标题没有 id" in page
    for name, problem in {
        "open-fence": "<li>12: P207 a fence that is not closed",
        "no-snippet": "<li>13: P203 no snippet training/none.py",
        "no-yaml": "<li>3: P102 the front matter is not YAML",
    }.items():
        page = server.get(f"en/training/{name}")
        assert problem in page
        assert "<pre><code>---\ntitle: The" in page
    page = server.get("en/training/no-python")
    assert "<li>snippets/training/no_python.py:1: S201 does not parse" in page
    assert "language-python" in page
    assert "Snippet at path &#x27;no.md&#x27; could not be found" in server.get("en")

    page = server.get(GOOD)
    assert "Add two numbers" in page
    assert "problems" not in page
    assert "docs/en/training/no-id.md:12: P302 a heading without an id" in server.log


def test_an_edit_is_shown_and_renders_nothing_else(cookbook, serve):
    cookbook.recipe("other", cookbook.CLAIM)
    server = serve()
    assert "problems" not in server.page_with(GOOD, "Add two numbers")
    (built,) = (cookbook.root / "scratch").glob("cookbook-site-*")
    others = {file: file.stat().st_mtime_ns for file in built.rglob("other/index.html")}
    assert len(others) == 2

    cookbook.replace(PAGES[0], "```python", "A new word.\n\n```python")
    server.page_with(GOOD, "A new word.")
    cookbook.write("snippets/training/label_smoothing.py", '"""Add more."""\n')
    page = server.page_with(GOOD, "Add more.")
    assert "<li>snippets/training/label_smoothing.py:1: S203" in page
    cookbook.write("snippets/training/label_smoothing.py", cookbook.CLAIM)
    server.page_without(GOOD, "problems")
    assert {file: file.stat().st_mtime_ns for file in others} == others

    text = (cookbook.root / "docs/categories.yml").read_text("utf-8")
    cookbook.write("docs/categories.yml", "no: [yaml")
    wait_for(lambda: "docs/categories.yml:1: P408" in server.log, server.process)
    assert "Add two numbers" in server.get(GOOD)  # the last good site
    cookbook.write("docs/categories.yml", text.replace("Training", "Schooling"))
    server.page_with(GOOD, "Schooling")
    cookbook.replace(PAGES[0], "The label-smoothing", "Another title")
    assert "Another title" in server.page_with("en/training/other", "Another title")
    for page in PAGES:
        (cookbook.root / page).unlink()
    server.page_without("en/training/other", "Another title")
    assert server.get(GOOD) == ""
