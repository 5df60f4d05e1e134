"""The built site on a local server below a path, and Chromium to look at it."""

import functools
import http.server
import os
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import urljoin

import pytest

from cookbook.book.catalogue import Catalogue
from tests.helpers import ROOT, made_once

PREFIX = "some/mirror/"  # nothing may depend on where the site lives
DESKTOP = {"width": 1280, "height": 900}


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the site, and its 404 page for what is missing."""

    def send_error(self, code, message=None, explain=None):
        body = Path(self.directory, PREFIX, "404.html").read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        """Keep the test output quiet."""


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    return Catalogue(ROOT)


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Path:
    """The site, built strictly by the command a user would type."""
    return made_once("host", build, tmp_path_factory) / PREFIX


def build(folder: Path) -> None:
    command = [sys.executable, "-W", "error", "-m", "mkdocs", "build", "--strict"]
    result = subprocess.run(
        [*command, "--site-dir", str(folder / PREFIX)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        check=False,
    )
    assert result.returncode == 0, result.stderr


@pytest.fixture(scope="session")
def address(site):
    """Where the site is served, not at the address it was built for."""
    handler = functools.partial(Handler, directory=str(site.parents[1]))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/{PREFIX}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def context(browser, address):
    """What all pages share: the cache, else each test fetches the whole theme."""
    context = browser.new_context(
        base_url=address,
        viewport=DESKTOP,
        permissions=["clipboard-read", "clipboard-write"],
    )
    yield context
    context.close()


@pytest.fixture
def page(context, address):
    """A new page; console errors and foreign requests fail the test.

    A page used before may still be on its way to where the test before it went.
    """
    page = context.new_page()
    page.bring_to_front()  # the clipboard is for the page in front
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: complaints.append(request.url))
    yield page
    kept = {"origin": urljoin(address, "/"), "storageTypes": "local_storage"}
    context.new_cdp_session(page).send("Storage.clearDataForOrigin", kept)
    page.close()
    own = ("http://127.0.0.1:", "data:", "blob:")
    assert [one for one in complaints if not one.startswith(own)] == []
