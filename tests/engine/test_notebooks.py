"""Notebooks: valid, complete, and in a real kernel they print what they show."""

import nbformat
import pytest

from cookbook.book.catalogue import Catalogue
from cookbook.site import notebooks
from tests.helpers import ROOT
from tests.notebooks import fault

SITE = "https://a.example/b/"


@pytest.fixture(scope="module")
def made():
    """Makes the English notebook of a recipe."""
    catalogue = Catalogue(ROOT, "https://github.com/o/r")

    def make(slug: str) -> nbformat.NotebookNode:
        return notebooks.notebook(
            catalogue, catalogue.by_slug[slug].page_for("en"), SITE
        )

    return make


SLUGS = [  # one that
    "topk-sort",  # runs in the kernel
    "label-smoothing",  # draws
    "compile-graph-breaks",  # prints its own name
    "ddp-multi-node",  # has a file that other processes run, and calls it
]


@pytest.mark.parametrize("slug", SLUGS)
def test_it_prints_what_it_shows(made, slug):
    assert not fault(made(slug))


def test_another_output_or_an_error_is_told(made):
    other, broken = made("topk-sort"), made("topk-sort")
    cell = next(cell for cell in other.cells if cell.get("outputs"))
    cell.outputs[0].text = "something else\n"
    assert "-something else" in fault(other)
    next(cell for cell in broken.cells if cell.cell_type == "code").source = "1 / 0"
    assert "ZeroDivisionError" in fault(broken)


def test_all_are_valid_and_hold_every_block():
    catalogue = Catalogue(ROOT)
    for recipe in catalogue.recipes:
        for page in recipe.written.values():
            found = notebooks.notebook(catalogue, page)
            nbformat.validate(found)
            cells = [cell.source for cell in found.cells if cell.cell_type == "code"]
            for block in page.blocks:
                if block.mark != "skip":
                    code = block.code.rstrip("\n")
                    assert any(cell.endswith(code) for cell in cells), block.path


def test_a_file_that_other_processes_run_is_written_and_its_links_lead_out(made):
    found = made("ddp-single-node")
    code = [cell.source for cell in found.cells if cell.cell_type == "code"]
    assert code[0].startswith("%%writefile ddp_single_node.py\n")
    assert code[1] == "%%bash\npython ddp_single_node.py"
    assert code[2].startswith("%%bash\ntorchrun ")
    text = "".join(cell.source for cell in found.cells if cell.cell_type == "markdown")
    assert f"]({SITE}en/distributed/" in text
    assert "](../" not in text


def test_colab_opens_what_is_on_github():
    page = Catalogue(ROOT).by_slug["mixup"].page_for("zh")
    on_github = Catalogue(ROOT, "https://github.com/o/r")
    assert notebooks.colab(on_github, page) == (
        "https://colab.research.google.com/github/o/r/blob/notebooks/"
        "zh/training/mixup.ipynb"
    )
    assert notebooks.colab(Catalogue(ROOT, "https://git.example/o/r"), page) == ""
