"""What chains share: answers as Copy yields them, snippets, files."""

import torch

from tests.helpers import ROOT, recipes


def answer(slug):
    """What "Copy the answer" yields."""
    return recipes()[slug].answer.text


def save_checkpoint():
    """The function of its page, without the loop that calls it there."""
    return answer("save-checkpoint").partition("last = ")[0]


def source(snippet):
    """A snippet without its demonstration."""
    text = (ROOT / "snippets" / snippet).read_text(encoding="utf-8")
    return text.partition('\n\nif __name__ == "__main__":')[0]


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
