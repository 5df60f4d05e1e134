"""The browser of the tests and the benchmarks."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu"]


@contextmanager
def chromium() -> Iterator[Browser]:
    """The system's Chromium, or the one that CHROMIUM names."""
    executable = os.environ.get("CHROMIUM") or shutil.which("chromium")
    assert executable, "no Chromium: run make chromium, or set CHROMIUM to its path"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        yield browser
        browser.close()
