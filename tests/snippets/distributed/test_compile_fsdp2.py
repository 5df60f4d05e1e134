"""compile-fsdp2: two processes with compiled blocks, against one without."""

import torch
from torch import nn

from tests.helpers import load_snippet
from tests.snippets.distributed.test_compile_ddp import run


def test_fsdp2(tmp_path):
    """Its names, and no cut in a graph; the weights are those of one process."""
    events, names, breaks = run(tmp_path, "compile_fsdp2.py")
    assert events.count("backward") == 5 * 4
    assert names[:2] == ["0.norm.weight", "0.norm.bias"]
    assert breaks == 0
    found = torch.load(tmp_path / "state.pt", weights_only=True)
    block = load_snippet("distributed/compile_fsdp2.py").Block
    torch.manual_seed(0)
    model = nn.Sequential(*[block() for _ in range(4)])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.randn(2, 8, 16)
    for _ in range(5):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
    torch.testing.assert_close(found, dict(model.state_dict()))
