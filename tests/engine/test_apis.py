"""The symbols of a snippet, derived from its syntax tree."""

import importlib
from functools import reduce

import pytest

from cookbook.apis import symbols
from cookbook.catalogue import Catalogue
from tests.engine.conftest import ROOT

SOURCES = {
    "attribute": ("import torch\ntorch.manual_seed(0)", {"torch.manual_seed"}),
    "from-import": (
        "from torch.utils.data import DataLoader\nDataLoader([])",
        {"torch.utils.data.DataLoader"},
    ),
    "alias": (
        "import torch.nn.functional as F\nF.relu(1)",
        {"torch.nn.functional.relu"},
    ),
    "from-import of a module under another name": (
        "from torch.nn import functional as F\nF.relu(1)",
        {"torch.nn.functional.relu"},
    ),
    "class to derive from": (
        "from torch import nn\nclass Net(nn.Module):\n    pass",
        {"torch.nn.Module"},
    ),
    "decorator": ("import torch\n@torch.no_grad()\ndef f(): ...", {"torch.no_grad"}),
    "other libraries": (
        "import numpy as np\nimport os\nnp.ones(1)\nos.getcwd()",
        set(),
    ),
    "torchvision": (
        "from torchvision.models import resnet18\nresnet18()",
        {"torchvision.models.resnet18"},
    ),
    "noise": ("import torch\nx: torch.Tensor\ntorch.float32\ntorch.int64", set()),
    "method of an annotated argument": (
        "import torch\ndef f(x: torch.Tensor):\n    return x.detach()",
        {"torch.Tensor.detach"},
    ),
    "method of an annotated name": (
        "from torch import Tensor\nx: Tensor = load()\nx.backward()",
        {"torch.Tensor.backward"},
    ),
    "method of what torch returns": (
        "import torch\nx = torch.ones(2)\nx.clone()",
        {"torch.ones", "torch.Tensor.clone"},
    ),
    "chain of methods": (
        "import torch\ntorch.ones(2).detach().numpy().astype(int)",
        {"torch.ones", "torch.Tensor.detach", "torch.Tensor.numpy"},
    ),
    "method of a sum": (
        "import torch\ndef f(x: torch.Tensor):\n    return (x + 1).mean().item()",
        {"torch.Tensor.mean", "torch.Tensor.item"},
    ),
    "method of an unpacked name": (
        "import torch\nx, y = torch.ones(2), 'a'\nx.sum()\ny.upper()",
        {"torch.ones", "torch.Tensor.sum"},
    ),
    "methods of other values": (
        "import torch\ndevice = torch.device('cpu')\nmodel = Net()\nmodel.eval()\n"
        "state = torch.load('a')\nstate.items()\n'a'.join('b')",
        {"torch.device", "torch.load"},
    ),
    "names in text": (
        "'''torch.compile'''\n# torch.compile\ntorch = 1\ntorch.x",
        set(),
    ),
}


@pytest.mark.parametrize(("source", "expected"), SOURCES.values(), ids=SOURCES)
def test_symbols_of_a_source(tmp_path, source, expected):
    file = tmp_path / "snippet.py"
    file.write_text(source)
    assert set(symbols(file)) == expected


def resolve(name: str) -> object:
    """The object of a full name: modules are imported, the rest looked up."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            module = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        return reduce(getattr, parts[cut:], module)
    raise ModuleNotFoundError(name)


def test_symbols_of_the_real_snippets_exist():
    used = {name: r.slug for r in Catalogue(ROOT).recipes for name in r.apis}
    assert used
    missing = {}
    for name, slug in used.items():
        try:
            resolve(name)
        except (AttributeError, ModuleNotFoundError) as error:
            missing[name] = f"{slug}: {error}"
    assert missing == {}
