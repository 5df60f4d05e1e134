"""What the site's machinery costs: our build beside plain Material's.

Plain Material gets the Markdown that our hooks end up with, in two builds, one
per language, with the same theme features and extensions. Ours also checks the
pages, derives their parts, and writes recipes.json, llms.txt and the Markdown.
"""

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks import record
from benchmarks.synthetic import copy, grow
from benchmarks.table import Measure, say, show
from cookbook.catalogue import Catalogue
from cookbook.pages import LANGUAGES

ROOT = Path(__file__).parents[1]
SIZES = {300: 2, 1000: 1}  # recipes: rounds
TODAY_ROUNDS = 5
# Both sides are built alike: by MkDocs itself, in one process of their own.
BUILD = """\
import logging, sys
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort
logging.basicConfig(level="WARNING")
for file in sys.argv[1:]:
    try:
        build(load_config(file, strict=True))
    except Abort as error:
        sys.exit(str(error))
"""


def measures() -> Iterator[Measure]:
    """Yield the measures of this part; says what it does, as it takes minutes."""
    today = len(Catalogue(ROOT).recipes)
    per_recipe = {}
    for size, rounds in {today: TODAY_ROUNDS, **SIZES}.items():
        ours, plain = compare(size, rounds)
        per_recipe[size] = ours / size
        yield Measure(f"{size} recipes: building both languages", ours, "s CPU")
        yield Measure(f"{size} recipes: ours / plain", ours / plain, "x", "<= 1.4")
    small, large = SIZES
    ratio = per_recipe[large] / per_recipe[small]
    name = f"cost per recipe at {large:,} / at {small}"
    yield Measure(name, ratio, "x", "<= 1.5")


def compare(size: int, rounds: int) -> tuple[float, float]:
    """Median seconds of our build and of plain Material's, built in turns."""
    with tempfile.TemporaryDirectory(prefix="cookbook-bench-") as folder:
        checkout = Path(folder)
        grow(ROOT, checkout, size)
        say(f"{size} recipes: planted; writing what plain Material builds")
        plain_files = write_plain(checkout)
        ours, plain = [], []
        for number in range(1, rounds + 1):
            plain.append(seconds(checkout, plain_files))
            ours.append(seconds(checkout, ["mkdocs.yml"]))
            say(
                f"{size} recipes, round {number} of {rounds}: "
                f"plain {plain[-1]:.1f} s, ours {ours[-1]:.1f} s"
            )
        refuse_differences(checkout)
    return median(ours), median(plain)


def seconds(checkout: Path, files: list[str]) -> float:
    """CPU seconds it takes to build the sites of these configurations.

    A build is one busy thread, so on an idle machine they are the seconds that
    pass; on a shared one they are steadier.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", BUILD, *files]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    result = subprocess.run(
        command, cwd=checkout, env=environment, capture_output=True, text=True
    )
    if result.returncode:
        raise RuntimeError(f"{files}: the build failed\n{result.stderr[-2000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def write_plain(checkout: Path) -> list[str]:
    """Write plain Material's pages and settings; the files of the latter."""
    # The home page asks for a template that plain Material does not have.
    record.write(checkout / record.THEME / "home.html", '{% extends "main.html" %}')
    settings = checkout / "mkdocs.yml"
    ours = settings.read_text("utf-8")
    hooks = f"hooks: [cookbook/site/hooks.py, {record.__file__}]"
    settings.write_text(ours.replace("hooks: [cookbook/site/hooks.py]", hooks), "utf-8")
    seconds(checkout, ["mkdocs.yml"])
    settings.write_text(ours, "utf-8")
    for lang in LANGUAGES:
        copy(checkout / "docs/overrides/assets", checkout / "plain" / lang / "assets")
    return [record.settings_file(lang) for lang in LANGUAGES]


def refuse_differences(checkout: Path) -> None:
    """Compare what the builds made: the same pages."""
    for lang in LANGUAGES:
        ours, plain = (
            {file.relative_to(site) for file in site.rglob("index.html")}
            for site in (checkout / "site" / lang, checkout / "plain/site" / lang)
        )
        if ours != plain:
            raise RuntimeError(f"{lang}: not the same pages: {ours ^ plain}")


if __name__ == "__main__":
    sys.exit(show(measures()))
