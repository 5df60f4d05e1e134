"""``mkdocs build`` publishes the whole site, or says what is wrong and nothing.

``mkdocs serve`` shows what is unfinished, too.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from http.client import HTTPException
from urllib.request import urlopen

import pytest
from PIL import Image

from tests.engine.plants import PAGE, TWIN, plant
from tests.helpers import ROOT

SLUG = "label-smoothing"
ADDRESSES = {
    "SITE_URL": "https://example.org/x/",
    "REPOSITORY_URL": "https://example.org/o/r",
}
REPOSITORY = ADDRESSES["REPOSITORY_URL"]
ENGLISH = "## `Why` {#why}\n\nBecause.\n\n```pytb\nKeyError: 1\n```"
MOVED = "data/other: training/other\ntraining/old-task: training\n"


def build(cookbook):
    """Build as ``make site`` does, with scratch/ for temporary files."""
    scratch = cookbook.root / "scratch"
    scratch.mkdir(exist_ok=True)
    done = cookbook.command(
        "mkdocs", "build", "--strict", TMPDIR=str(scratch), **ADDRESSES
    )
    assert list(scratch.iterdir()) == []
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def built(tiny_cookbook):
    """A site of two recipes; one is in English alone, and the other links to it."""
    cookbook = tiny_cookbook()
    plant(cookbook, en=ENGLISH, raises=f"training/{SLUG}", moved=MOVED)
    (cookbook.root / TWIN).unlink()
    cookbook.recipe("other", cookbook.CLAIM, before=f"[CPU]({SLUG}.md#why)\n\n")
    assert cookbook.problems() == []
    code, output = build(cookbook)
    assert code == 0, output
    return cookbook


@pytest.fixture(scope="module")
def site(built):
    """Its text files."""
    root = built.root / "site"
    return {
        file.relative_to(root).as_posix(): file.read_text("utf-8")
        for file in root.rglob("*")
        if file.suffix in {".html", ".json", ".md", ".txt", ".xml"}
    }


def test_a_shared_link_has_a_picture(built, site):
    address = f"{ADDRESSES['SITE_URL']}cards/{SLUG}.png"
    for lang in ("en", "zh"):
        page = site[f"{lang}/training/{SLUG}/index.html"]
        assert f'<meta property="og:image" content="{address}">' in page
    assert "og:image" not in site["en/index.html"]
    with Image.open(built.root / "site" / "cards" / f"{SLUG}.png") as card:
        assert card.size == (1200, 630)
        assert len(card.getcolors()) > 2  # something is written on it


def test_a_stub_has_the_code_and_leads_to_the_page_there_is(site):
    stub = site[f"zh/training/{SLUG}/index.html"]
    assert f'href="../../../en/training/{SLUG}/"' in stub
    assert "本条目还没有中文页" in stub
    assert "Add two numbers" in stub
    assert 'id="why"' in stub  # where the other recipe's page links to
    assert "Because" not in stub
    for page in ("index.html", "other/index.html"):
        assert f"The {SLUG}（英文）" in site[f"zh/training/{page}"]
    assert "1 个任务" in site["zh/index.html"]
    assert "2 tasks" in site["en/index.html"]
    text = site[f"zh/training/{SLUG}.md"]
    link = f"[英文页](../../en/training/{SLUG}.md)"
    assert f"> 本条目还没有中文页。代码是两种语言共用的，说明请看{link}。\n" in text
    assert "<span" not in text


def test_lists_know_what_is_written_and_no_old_address(site):
    assert f"zh/training/{SLUG}.md" not in site["llms.txt"]
    first, second = json.loads(site["recipes.json"])["recipes"]
    assert (first["missing"], first["behind"]) == (["zh"], [])
    assert first["errors"] == ["KeyError: 1"]
    assert second["category"] == "training"
    pages = ("index.html", "training/index.html")
    pages += ("search/search_index.json", "search/search_rest.json")
    names = ["llms.txt", "recipes.json", "sitemap.xml"]
    for name in [
        *names,
        *(f"{lang}/{page}" for lang in ("en", "zh") for page in pages),
    ]:
        assert "old-task" not in site[name], name
        assert "data/other" not in site[name], name


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_an_old_address_leads_on_at_once(site, lang):
    for old, url in (
        ("data/other", "training/other"),
        ("training/old-task", "training"),
    ):
        html = site[f"{lang}/{old}/index.html"]
        assert f"{lang}/{url}/index.html" in site
        assert f'<meta http-equiv="refresh" content="0; url=../../{url}/">' in html
        assert f'<link rel="canonical" href="../../{url}/">' in html
        assert f'<a href="../../{url}/">' in html
    assert "(../training/other.md)" in site[f"{lang}/data/other.md"]


@pytest.mark.parametrize(("lang", "guide"), [("en", ""), ("zh", ".zh")])
def test_pages_link_to_the_repository_they_were_built_for(site, lang, guide):
    home = site[f"{lang}/index.html"]
    assert f'href="{REPOSITORY}/blob/HEAD/CONTRIBUTING{guide}.md"' in home
    wanted = f"{REPOSITORY}/issues/new?template=recipe-wanted.yml"
    assert f'data-wanted="{wanted}"' in home
    page = site[f"{lang}/training/other/index.html"]
    assert f'href="{REPOSITORY}/issues/new?template=wrong-recipe.yml&amp;' in page
    assert f"page={lang}%2Ftraining%2Fother%2F" in page


def snapshot(folder) -> dict:
    """Every file below a folder: its content and when it was written."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


# What the checks find of pages; and of their blocks, what only MkDocs finds, late.
REFUSED = {
    "by the checks": (
        {"fence": "```py", "docs/zh/training/other.md": {"encoding": "gb18030"}},
        [
            f"{PAGE}:8: P206 a block of ```py would be shown but not run",
            "docs/zh/training/other.md:2: F104 docs/zh/training/other.md is not UTF-8",
        ],
    ),
    "by MkDocs": (
        {"en": "[gone](../training/)"},
        [
            f"'training/{SLUG}.md' contains an unrecognized relative link",
            "Aborted with 1 warnings in strict mode!",
        ],
    ),
}


@pytest.mark.parametrize("how", REFUSED)
def test_a_fault_stops_the_build_and_the_site_is_kept(built, how):
    changes, reasons = REFUSED[how]
    sources = {file: file.read_bytes() for file in built.root.glob("docs/*/*/*.md")}
    before = snapshot(built.root / "site")
    plant(built, **changes)
    code, output = build(built)
    for file, text in sources.items():
        file.write_bytes(text)
    assert code != 0
    assert all(reason in output for reason in reasons), output
    assert "Traceback" not in output
    assert snapshot(built.root / "site") == before


def test_a_theme_with_another_worker_stops_the_build(cookbook):
    theme = cookbook.root / "docs/overrides"
    theme.unlink()  # a link
    shutil.copytree(ROOT / "docs/overrides", theme)
    page = theme / "main.html"
    page.write_text(page.read_text("utf-8").replace("search.a7633da7", "search.0"))
    code, output = build(cookbook)
    assert code != 0
    assert "the search worker of this Material has another name" in output


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

    def page_with(self, page: str, text: str, is_shown: bool = True) -> str:
        """The page, once it has the text; or else, once it has it no more."""

        def found() -> str:
            html = self.get(page)
            return html if html and (text in html) == is_shown else ""

        return wait_for(found, self.process)


@pytest.fixture(scope="module")
def server(tiny_cookbook):
    """Serves pages that are in order, and such as no build would take."""
    cookbook = tiny_cookbook()
    cookbook.recipe("other", cookbook.CLAIM)
    cookbook.recipe("no-id", cookbook.CLAIM, after="\n## Heading\n")
    cookbook.recipe("no-python", "def (:\n")
    server = Server(cookbook)
    yield server
    os.killpg(server.process.pid, signal.SIGINT)
    server.process.wait(60)
    assert list((cookbook.root / "scratch").iterdir()) == []


GOOD = "en/training/label-smoothing"


def test_unfinished_pages_are_served_and_their_problems_told(server):
    assert "language-python" in server.page_with("en/training/no-id", "Heading")
    assert "language-python" in server.get("en/training/no-python")
    assert "Add two numbers" in server.get(GOOD)
    assert "docs/en/training/no-id.md:12: P302 a heading without an id" in server.log
    assert "snippets/training/no_python.py:1: S201 does not parse" in server.log


@pytest.mark.parametrize(
    ("path", "text", "told"),
    [
        (PAGE, "no front matter\n", f"{PAGE}:1: P101"),
        (PAGE, "---\ntitle: a: b\n---\n", f"{PAGE}:2: P102"),
        ("docs/categories.yml", "no: [yaml", "docs/categories.yml:1: P408"),
    ],
)
def test_what_cannot_be_read_is_told_and_the_last_good_site_stays(
    server, path, text, told
):
    server.page_with(GOOD, "Add two numbers")
    file = server.cookbook.root / path
    good = file.read_text("utf-8")
    server.cookbook.write(path, text)
    wait_for(lambda: f"Not rebuilt: Abort: {told}" in server.log, server.process)
    assert "Add two numbers" in server.get(GOOD)
    server.cookbook.write(path, good)
    server.page_with(GOOD, "Add two numbers")


def test_an_edit_is_shown_and_renders_nothing_else(server):
    """The last test of this server, for it removes a page."""
    cookbook = server.cookbook
    cookbook.replace(PAGE, "```python", "A first word.\n\n```python")
    server.page_with(GOOD, "A first word.")
    (built,) = (cookbook.root / "scratch").glob("cookbook-site-*")
    others = {file: file.stat().st_mtime_ns for file in built.rglob("other/index.html")}
    assert len(others) == 2

    cookbook.write("snippets/training/label_smoothing.py", '"""Add more."""\n')
    cookbook.replace(PAGE, "A first word.", "A new word.")
    page = server.page_with(GOOD, "A new word.")
    assert "Add more." in page
    cookbook.write("snippets/training/label_smoothing.py", cookbook.CLAIM)
    server.page_with(GOOD, "Add more.", False)
    assert {file: file.stat().st_mtime_ns for file in others} == others

    cookbook.replace("docs/categories.yml", "title: Training", "title: Schooling")
    cookbook.replace(PAGE, "The label-smoothing", "Another title")
    assert "Schooling" in server.page_with("en/training/other", "Another title")
    for page in (PAGE, TWIN):
        (cookbook.root / page).unlink()
    server.page_with("en/training/other", "Another title", False)
    assert server.get(GOOD) == ""
