"""What a reader downloads, and what Lighthouse says of the pages.

The site is built, served compressed, and opened in Chromium. A recipe page's
weight is everything the server sent for it: worker and index of the search, too.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import sync_playwright

from benchmarks.server import serve
from benchmarks.table import Measure, say, show
from cookbook.catalogue import Catalogue
from cookbook.pages import LANGUAGES

ROOT = Path(__file__).parents[1]
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
LIGHTHOUSE = ROOT / "tools/node_modules/lighthouse/cli/index.js"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# Of each page. What else the machine does can only lower a score: the best counts.
AUDITS = 3


def measures() -> Iterator[Measure]:
    """Yield the measures of this part."""
    with tempfile.TemporaryDirectory(prefix="cookbook-bench-") as folder:
        site = Path(folder)
        build(site)
        heaviest = {lang: heaviest_recipe(site, lang) for lang in LANGUAGES}
        with serve(site) as (address, sent):
            for page in heaviest.values():
                yield from weights(address, page, sent)
            pages = [*heaviest.values(), *(f"{lang}/" for lang in LANGUAGES), ""]
            for page in pages:
                yield from audit(address, page)


def build(site: Path) -> None:
    """Build the site as ``make site`` does, into a folder of its own."""
    say("building the site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict"]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    result = subprocess.run([*command, "--site-dir", site], cwd=ROOT, env=environment)
    if result.returncode:
        raise SystemExit("the site does not build; what is wrong stands above")


def heaviest_recipe(site: Path, lang: str) -> str:
    """The address of the recipe page with the most HTML."""
    urls = [recipe.pages[lang].url for recipe in Catalogue(ROOT).recipes]
    return max(urls, key=lambda url: (site / url / "index.html").stat().st_size)


def weights(address: str, page: str, sent: dict[str, int]) -> Iterator[Measure]:
    """Compressed kB of a page with all it loads, when opened and after a search."""
    sent.clear()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        tab = browser.new_page()
        tab.goto(address + page, wait_until="networkidle")
        opened = sum(sent.values()) / 1000
        tab.keyboard.press("/")
        tab.keyboard.type("tensor")
        tab.locator(".md-search-result__item").first.wait_for(state="attached")
        tab.wait_for_load_state("networkidle")
        searched = sum(sent.values()) / 1000
        browser.close()
    for path, size in sorted(sent.items(), key=lambda item: -item[1]):
        say(f"  {size / 1000:6.1f} kB {path}")
    yield Measure(f"/{page} opened, gzip", opened, "kB", "<= 95")
    yield Measure(f"/{page} and searched, gzip", searched, "kB")


def audit(address: str, page: str) -> Iterator[Measure]:
    """Lighthouse's scores for a page on a phone."""
    say(f"Lighthouse, {AUDITS} times: /{page}")
    reports = [lighthouse(address + page) for _ in range(AUDITS)]
    for category, target in (("performance", ">= 0.98"), ("accessibility", ">= 1")):
        score = max(r["categories"][category]["score"] for r in reports)
        yield Measure(f"/{page} {category}", score, "", target)
    for line in faults(reports[0]):
        say(f"  {line}")


def lighthouse(url: str) -> dict:
    """Run Lighthouse with its defaults for phones; its report."""
    if not LIGHTHOUSE.exists():
        raise SystemExit("Lighthouse is not installed: make bench sets it up")
    command = ["node", LIGHTHOUSE, url, "--quiet", "--output=json"]
    command += ["--only-categories=performance,accessibility"]
    command += [f"--chrome-flags={' '.join(FLAGS)}"]
    environment = {**os.environ, "CHROME_PATH": CHROMIUM}
    result = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, check=True
    )
    return json.loads(result.stdout)


def faults(report: dict) -> Iterator[str]:
    """What stands between the page and a perfect accessibility score."""
    for reference in report["categories"]["accessibility"]["auditRefs"]:
        result = report["audits"][reference["id"]]
        if not reference["weight"] or result["score"] != 0:
            continue
        yield f"{result['id']}: {result['title']}"
        for item in result["details"]["items"]:
            yield f"    {item['node']['selector']}: {item['node']['snippet']}"


if __name__ == "__main__":
    sys.exit(show(measures()))
