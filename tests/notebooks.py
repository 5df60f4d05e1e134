"""Run the notebooks in a real kernel, and compare what they print with what is shown.

    python -m tests.notebooks [SLUG...]

By default, those of all recipes. Cells that need a GPU are left out.
"""

import asyncio
import os
import re
import sys
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from cookbook.book.catalogue import Catalogue
from cookbook.running import output
from cookbook.running.runner import usable_cores
from cookbook.site import notebooks

ROOT = Path(__file__).parents[1]
SECONDS = 300  # for a cell
QUIET = ["--log-level=ERROR"]  # it warns of its port, which only this machine sees
COLOURS = re.compile(r"\x1b\[[\d;]*m")


def fault(notebook: NotebookNode) -> str:
    """Why it does not do what it shows; empty where it does."""
    cells = [
        c for c in notebook.cells if notebooks.GPU not in c.metadata.get("tags", [])
    ]
    shown = [_printed(cell) for cell in cells]
    notebook.cells = cells
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of jupyter's own
        resources = {"metadata": {"path": folder}}
        client = NotebookClient(
            notebook, timeout=SECONDS, resources=resources, extra_arguments=QUIET
        )
        try:
            asyncio.run(client.async_execute(env={**os.environ, "PATH": path}))
        except CellExecutionError as error:
            return COLOURS.sub("", str(error)).strip()
    for text, cell in zip(shown, cells, strict=True):
        if text and not output.matches(text, _printed(cell)):
            return output.difference(text, _printed(cell))
    return ""


def _printed(cell: NotebookNode) -> str:
    streams = (one for one in cell.get("outputs", []) if one.output_type == "stream")
    return "".join(one.text for one in streams if one.name == "stdout")


def main(slugs: list[str]) -> int:
    catalogue = Catalogue(ROOT)
    asked = [catalogue.by_slug[slug] for slug in slugs] or catalogue.recipes
    made = [notebooks.notebook(catalogue, recipe.page_for("en")) for recipe in asked]
    failed = 0
    with ThreadPoolExecutor(usable_cores()) as pool:
        for recipe, found in zip(asked, pool.map(fault, made), strict=True):
            failed += bool(found)
            print(f"{recipe.slug}: {found or 'as shown'}", flush=True)
    print(f"{len(asked) - failed} of {len(asked)} notebooks do what they show")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
