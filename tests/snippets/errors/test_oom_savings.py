"""oom-savings: every saving counted by hand; the messages that a CPU can raise."""

import contextlib
import io
import runpy

import pytest
import torch
from torch import nn

from tests.helpers import ROOT

SNIPPET = ROOT / "snippets/errors/oom_savings.py"
PAGE = "errors/oom-checklist"
N, D, WIDE, BLOCKS, MIB = 1024, 128, 512, 8, 2**20
# Forward keeps the input, two wide tensors and the output of each block, and the
# output of the last one is the square's.
PLAIN = 4 * N * (D + BLOCKS * (WIDE + WIDE + D)) / MIB


@pytest.fixture(scope="module")
def printed():
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        runpy.run_path(str(SNIPPET), run_name="__main__")
    lines = [line.rsplit(maxsplit=2) for line in out.getvalue().splitlines()]
    return {name: float(size) for name, size, _ in lines}


def test_plain_no_grad_and_a_quarter(printed):
    assert PLAIN == 36.5
    assert printed["as it is"] == PLAIN
    assert printed["no_grad"] == 0
    quarter = 4 * N / 4 * BLOCKS * (WIDE + WIDE + D) / MIB  # the input is a view of x
    assert printed["a quarter of it"] == quarter + 4 * N * D / MIB


def test_checkpoint_keeps_the_input_of_each_block(printed):
    assert printed["checkpoint"] == 4 * N * D * (BLOCKS + 1) / MIB


def test_bfloat16_halves_the_activations_and_adds_copies_of_the_weights(printed):
    weights = BLOCKS * 2 * (2 * D * WIDE) - 2 * D * WIDE  # the first one's not needed
    activations = 2 * N * (D + BLOCKS * (WIDE + WIDE + D))
    size = (weights + activations) / MIB
    assert printed["bfloat16"] == pytest.approx(size, abs=0.05)


def test_the_table_quotes_what_was_measured(printed):
    for language in ("en", "zh"):
        page = (ROOT / f"docs/{language}/errors/oom-checklist.md").read_text()
        for name, size in printed.items():
            if name != "as it is":
                assert f"36.5 → {size:g} MiB" in page, name


def test_a_frozen_weight_has_no_gradient_and_no_state():
    """4 of 16 bytes are left: the weight."""
    model = nn.Linear(8, 8, bias=False)
    for trained in (True, False):
        model.requires_grad_(trained)
        optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
        x = torch.ones(1, 8, requires_grad=True)
        model.zero_grad()
        model(x).sum().backward()
        optimizer.step()
        gradient = model.weight.grad
        state = optimizer.state[model.weight]
        sizes = [t.nbytes for t in state.values() if t.ndim]
        held = sum(sizes) + (0 if gradient is None else gradient.nbytes)
        assert held == (12 * 64 if trained else 0)


def test_a_broadcast_makes_a_square():
    a, b = torch.empty(5, 1, device="meta"), torch.empty(5, device="meta")
    assert (a - b).shape == (5, 5)
