"""The symbols of a snippet, derived from its syntax tree."""

from pkgutil import resolve_name

import pytest

from cookbook.book.catalogue import Catalogue
from cookbook.book.symbols import symbols
from cookbook.checks import names
from tests.engine.plants import PAGE, plant
from tests.helpers import ROOT

NAMES = """
import os
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader
from torchvision.models import resnet18

torch.manual_seed(0), F.relu(1), functional.gelu(1), DataLoader([]), resnet18()

class Net(nn.Module):
    @torch.no_grad()
    def f(self): ...

np.ones(1), os.getcwd()
"""
USED = """
torch.manual_seed torch.nn.functional.relu torch.nn.functional.gelu torch.no_grad
torch.utils.data.DataLoader torchvision.models.resnet18 torch.nn.Module
"""
METHODS = """
import torch
from torch import Tensor

def f(x: torch.Tensor):
    x.detach()
    (x + 1).mean().item()

annotated: Tensor = load()
annotated.backward()
torch.ones(2).clone().numpy().astype(int)
y, z = torch.ones(2), "a"
y.sum(), z.upper()
"""
CALLED = "ones Tensor.detach Tensor.mean Tensor.item Tensor.backward Tensor.clone "
CALLED += "Tensor.numpy Tensor.sum"
OTHERS = """
'''torch.compile'''  # torch.compile
import torch
x: torch.Tensor
torch.float32
torch.ops.my.operator(1)
device = torch.device("cpu")
model = Net()
model.eval()
state = torch.load("a")
state.items()
"a".join("b")
"""
SOURCES = {
    "names": (NAMES, USED.split()),
    "methods of tensors": (METHODS, [f"torch.{name}" for name in CALLED.split()]),
    "other methods, types and text": (OTHERS, ["torch.device", "torch.load"]),
    "a name that is no import": ("torch = 1\ntorch.x", []),
}


@pytest.mark.parametrize(("source", "expected"), SOURCES.values(), ids=SOURCES)
def test_symbols_of_a_source(tmp_path, source, expected):
    file = tmp_path / "snippet.py"
    file.write_text(source)
    assert sorted(symbols(file)) == sorted(expected)


def test_symbols_of_the_real_snippets_exist():
    used = {name: r.slug for r in Catalogue(ROOT).recipes for name in r.apis}
    assert used
    missing = {}
    for name, slug in used.items():
        try:
            resolve_name(name)
        except (AttributeError, ModuleNotFoundError) as error:
            missing[name] = f"{slug}: {error}"
    assert missing == {}


WRONG = {
    "`torch.flip_lr(x)`": "P314 torch.flip_lr does not exist in this release",
    "`nn.Linear(2, 2, biass=True)`": "P315 nn.Linear takes no argument biass",
    "`torch.roll(x, dim=0)`": "P315 torch.roll takes no argument dim",
}
RIGHT = "`torch.cat(x).numpy(force=True)` `nn.Linear(2, 2, bias=False)` `F.relu(x`"


def test_names_of_torch_in_inline_code_exist(cookbook):
    plant(cookbook, en="\n".join([*WRONG, RIGHT]))
    page = Catalogue(cookbook.root).by_slug["label-smoothing"].pages["en"]
    found = map(str, names.problems(page))
    for line, (problem, words) in enumerate(zip(found, WRONG.values(), strict=True)):
        assert problem.startswith(f"{PAGE}:{12 + line}: {words}")


def test_names_on_the_real_pages_exist():
    pages = Catalogue(ROOT).pages
    assert [str(one) for page in pages for one in names.problems(page)] == []
