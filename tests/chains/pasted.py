"""What chains share: answers as Copy yields them, lines of snippets, files."""

import textwrap

import torch

from cookbook.book.catalogue import Catalogue
from tests.helpers import ROOT

CATALOGUE = Catalogue(ROOT)


def answer(slug):
    """What "Copy the answer" yields."""
    return CATALOGUE.by_slug[slug].answer.text


def source(snippet):
    """A snippet without its demonstration."""
    text = (ROOT / "snippets" / snippet).read_text(encoding="utf-8")
    return text.partition('\n\nif __name__ == "__main__":')[0]


def lines(snippet, first, last):
    """What a reader marks and copies, from one line to another by their beginnings."""
    text = (ROOT / "snippets" / snippet).read_text(encoding="utf-8").splitlines()
    begin = next(n for n, line in enumerate(text) if line.strip().startswith(first))
    end = next(
        n for n, line in enumerate(text) if n >= begin and line.strip().startswith(last)
    )
    return textwrap.dedent("\n".join(text[begin : end + 1]))


def put(text, first, last, new):
    """The text with `new` in place of the lines from `first` to `last`, as deep."""
    old = text.splitlines()
    begin = next(n for n, line in enumerate(old) if line.strip().startswith(first))
    end = next(
        n for n, line in enumerate(old) if n >= begin and line.strip().startswith(last)
    )
    depth = old[begin][: len(old[begin]) - len(old[begin].lstrip())]
    old[begin : end + 1] = textwrap.indent(new, depth).splitlines()
    return "\n".join(old) + "\n"


def load(path):
    return torch.load(path, map_location="cpu", weights_only=True)


def bits(path):
    """A checkpoint as one tensor, to be compared bit by bit."""
    parts, todo = [], [load(path)]
    while todo:
        part = todo.pop()
        if isinstance(part, dict):
            todo += part.values()
        elif isinstance(part, (list, tuple)):
            todo += part
        else:
            parts.append(torch.as_tensor(0 if part is None else part).double())
    return torch.cat([part.flatten() for part in parts])
