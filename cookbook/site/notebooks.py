"""A notebook of each recipe, made from its page: the site offers it as a download.

A file that must be one (other processes read it, a shell block or another file of the
page names it, it prints its own name, it asks for its path or arguments) is written by
its cell and run beside the kernel; all else runs in the kernel.
"""

import re
from collections.abc import Iterator

from nbformat import NotebookNode, v4

from cookbook.book.catalogue import Catalogue
from cookbook.book.pages import PYTHON, Block, Page
from cookbook.site import render

BRANCH = "notebooks"  # of the public repository, where the deployment keeps them
COLAB = "https://colab.research.google.com/github/{name}/blob/{branch}/{path}"
GITHUB = "https://github.com/"
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
GPU = "needs-gpu"  # the tag of a cell
FENCE = re.compile(
    r'^```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<code>.*?)^```\n',
    re.MULTILINE | re.DOTALL,
)
# Other processes read it, it asks for its path or arguments, or a library says less.
AS_FILE = re.compile(
    r"__file__|argparse|sys\.argv|multiprocessing|num_workers=[1-9]|init_process_group"
    r"|import torchinfo|from torchinfo"  # which prints nothing in a notebook
)
LINK = re.compile(r"\]\((?:\.\./)+(?P<path>[\w/-]+?)(?:\.md|/)(?P<anchor>#[^)]*)?\)")


def address(page: Page) -> str:
    """Where the site has the page's notebook."""
    return f"{page.lang}/{page.category}/{page.slug}.ipynb"


def colab(catalogue: Catalogue, page: Page) -> str:
    """Where Colab opens it; empty where the repository is not on GitHub."""
    if not catalogue.repository.startswith(GITHUB):
        return ""
    name = catalogue.repository.removeprefix(GITHUB)
    return COLAB.format(name=name, branch=BRANCH, path=address(page))


def notebook(catalogue: Catalogue, page: Page, site: str = "") -> NotebookNode:
    """The page as cells, with the recorded outputs; ``site`` is its whole address."""
    cells = list(_cells(catalogue, page, site))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"  # nbformat's own are random
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    if any(GPU in cell.metadata.get("tags", []) for cell in cells):
        metadata["accelerator"] = "GPU"  # which Colab takes
    return v4.new_notebook(cells=cells, metadata=metadata)


def _cells(catalogue: Catalogue, page: Page, site: str) -> Iterator[NotebookNode]:
    text = render.full_markdown(catalogue, page)
    if site:
        place = rf"]({site}{page.lang}/\g<path>/\g<anchor>)"
        text = LINK.sub(place, text)
    blocks = [block for block in page.blocks if block.mark != "skip"]
    start, waiting = 0, []
    for fence in FENCE.finditer(text):
        block = blocks[0] if blocks and _shows(fence, blocks[0]) else None
        if block:
            blocks.pop(0)
        elif not (fence["language"] == "text" and fence["title"]):  # an output
            continue  # the answer, a message, what is not run: prose
        if prose := text[start : fence.start()].strip():
            yield v4.new_markdown_cell(prose)
        start = fence.end()
        if block:
            waiting.append(block)
            ready = [one for one in waiting if not _calls(one, blocks)]
            waiting = [one for one in waiting if one not in ready]
            for one in sorted(ready, key=lambda one: one.language != PYTHON):
                yield from _code(page, one)
    if prose := text[start:].strip():
        yield v4.new_markdown_cell(prose)


def _shows(fence: re.Match, block: Block) -> bool:
    if block.snippet:
        return fence["title"] == block.snippet.name
    return fence["code"].rstrip("\n") == block.code.rstrip("\n")


def _calls(block: Block, later: list[Block]) -> bool:
    """Whether a shell block calls a file that the page shows below it."""
    if block.language == PYTHON:
        return False
    return any(one.snippet and one.snippet.name in block.code for one in later)


def _code(page: Page, block: Block) -> Iterator[NotebookNode]:
    """A block's cells, with what its file printed when it was recorded."""
    code = block.code.rstrip("\n")
    if block.language != PYTHON:
        code = f"%%bash\n{code}"
    elif _must_be_file(page, block):
        name = block.snippet.name
        yield v4.new_code_cell(f"%%writefile {name}\n{code}")
        code = f"%%bash\npython {name}"
    cell = v4.new_code_cell(code)
    if block.mark == "gpu":
        cell.metadata["tags"] = [GPU]
    elif text := recorded_output(page, block):
        cell["outputs"] = [v4.new_output("stream", name="stdout", text=text)]
    yield cell


def _must_be_file(page: Page, block: Block) -> bool:
    stem = block.snippet.stem
    named = re.compile(rf"\b{stem}\.py\b|\b(?:from|import) {stem}\b")
    others = [one.code for one in page.blocks if one is not block]
    if AS_FILE.search(block.code):
        return True
    return any(map(named.search, [*others, recorded_output(page, block)]))


def recorded_output(page: Page, block: Block) -> str:
    """What the snippet printed; empty for a block without one."""
    if not block.snippet:
        return ""
    file = (page.root / block.snippet).with_suffix(".out")
    return file.read_text("utf-8") if file.exists() else ""
