"""chunked-cross-entropy: the one call, against float64 and the usual loss."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.helpers import ROOT, load_snippet

SNIPPET = "llm/linear_cross_entropy.py"
CODE = (ROOT / "snippets" / SNIPPET).read_text("utf-8")
CODE = CODE[CODE.index("loss = ") : CODE.index("\nplain")]


def loss_of(h, head, target):
    space = {"torch": torch, "nn": nn, "F": F, "h": h, "head": head, "target": target}
    exec(CODE, space)
    return space["loss"]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(1, 7), (3, 50)])
def test_ignored_targets_bias_and_odd_sizes(shape, bias):
    torch.manual_seed(0)
    h = torch.randn(*shape, 16, requires_grad=True)
    head, target = nn.Linear(16, 101, bias=bias), torch.randint(101, shape)
    target[:, ::3] = -100
    loss = loss_of(h, head, target)
    logits = head.double()(h.double()).flatten(0, 1)
    expected = F.cross_entropy(logits, target.flatten())
    torch.testing.assert_close(loss.double(), expected, rtol=1e-5, atol=1e-5)


def test_bfloat16():
    torch.manual_seed(0)
    h, head = torch.randn(2, 9, 16).bfloat16(), nn.Linear(16, 50).bfloat16()
    target = torch.randint(50, (2, 9))
    plain = F.cross_entropy(head(h).float().flatten(0, 1), target.flatten())
    loss = loss_of(h.requires_grad_(), head, target)
    assert loss.item() == pytest.approx(plain.item(), rel=0.02)


def test_the_run():
    load_snippet(SNIPPET)
