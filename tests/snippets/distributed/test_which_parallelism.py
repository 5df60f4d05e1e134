"""which-parallelism: the estimate against what a step of AdamW really holds."""

import pytest
import torch
from torch import nn

from tests.helpers import load_snippet

snippet = load_snippet("distributed/which_parallelism.py")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("frozen", [False, True])
def test_the_estimate_is_what_a_step_holds(dtype, frozen):
    model = nn.Sequential(nn.Linear(64, 32), nn.Linear(32, 8)).to(dtype)
    model[0].requires_grad_(not frozen)
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.randn(2, 64, dtype=dtype)).sum().backward()
    optimizer.step()
    held = [*model.parameters(), *(p.grad for p in model.parameters())]
    for state in optimizer.state.values():
        held += [state["exp_avg"], state["exp_avg_sq"]]
    size = sum(t.numel() * t.element_size() for t in held if t is not None)
    assert snippet.gib_per_gpu(model) * 2**30 == pytest.approx(size)
    assert snippet.gib_per_gpu(model, 4) == pytest.approx(size / 4 / 2**30)


def test_nothing_was_allocated():
    assert all(p.is_meta for p in snippet.model.parameters())
    assert sum(p.numel() for p in snippet.model.parameters()) == 86_567_656
