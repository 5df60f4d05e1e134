"""create-tensors: values, dtypes and bounds against Python and NumPy."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from tests.chains.pasted import answer
from tests.helpers import assert_documented, load_snippet, raises_as_documented

PAGE = "tensors/create-tensors"
snippet = load_snippet("tensors/create_tensors.py")


def assert_is(made, values, dtype):
    assert made.tolist() == np.asarray(values).tolist()
    assert made.dtype == dtype


def test_the_values_are_those_of_numpy():
    assert_is(snippet.zeros, np.zeros((2, 3)), torch.float32)
    assert_is(snippet.sevens, np.full((2, 3), 7.0), torch.float32)
    assert_is(snippet.steps, list(range(0, 10, 2)), torch.int64)
    assert_is(snippet.points, np.linspace(0, 1, 5), torch.float32)
    assert_is(snippet.identity, np.eye(3), torch.float32)
    assert_is(snippet.like, np.zeros((2, 3)), torch.int64)
    assert_is(snippet.other, np.zeros(4), torch.int64)


def test_the_random_ones_stay_in_their_bounds():
    assert snippet.dice.shape == (2, 3)
    assert set(snippet.dice.flatten().tolist()) <= set(range(1, 7))
    assert sorted(snippet.order.tolist()) == list(range(5))
    rolled = set()
    for _ in range(200):
        names = {}
        exec(answer("create-tensors"), names)
        rolled |= set(names["dice"].flatten().tolist())
    assert rolled == set(range(1, 7))


def test_it_prints_shapes_and_dtypes(capsys):
    load_snippet("tensors/create_tensors.py")
    printed = capsys.readouterr().out.splitlines()
    assert printed[1:3] == ["(2, 3) torch.float32", "(5,) torch.int64"]
    assert len(printed) == 8
    assert snippet.there.dtype == torch.float16


def test_range_warns_and_includes_the_end():
    with pytest.warns(UserWarning, match="torch.range is deprecated") as caught:
        values = torch.range(0, 3)
    assert_documented(
        PAGE, "UserWarning: torch.range", f"UserWarning: {caught[0].message}"
    )
    assert values.tolist() == [0, 1, 2, 3]
    assert torch.arange(0, 3).tolist() == list(range(3))


def test_steps_of_a_tenth():
    assert torch.arange(1, 1.3, 0.1).numel() == 4
    assert torch.arange(1, 1.3, 0.1)[-1].item() == pytest.approx(1.3)
    wanted = torch.tensor([1.0, 1.1, 1.2])
    torch.testing.assert_close(torch.linspace(1, 1.2, 3), wanted)
    torch.testing.assert_close(torch.arange(10, 13) / 10, wanted)


@pytest.mark.parametrize(
    ("made", "dtype"),
    [
        (torch.full((2, 3), 7), torch.int64),
        (torch.arange(5), torch.int64),
        (torch.arange(5.0), torch.float32),
        (torch.linspace(0, 5, 3), torch.float32),
        (torch.randperm(3), torch.int64),
        (torch.ones(2), torch.float32),
        (torch.rand(2), torch.float32),
        (torch.randn(2), torch.float32),
    ],
)
def test_which_dtype(made, dtype):
    assert made.dtype == dtype


def test_uniform_and_normal_numbers():
    generator = torch.Generator().manual_seed(0)
    a, b = -2, 3
    for values in (
        a + (b - a) * torch.rand(4000, generator=generator),
        torch.empty(4000).uniform_(a, b, generator=generator),
    ):
        assert a <= values.min() < -1.9
        assert 2.9 < values.max() <= b
    normal = 5 + 2 * torch.randn(4000, generator=generator)
    assert normal.mean().item() == pytest.approx(5, abs=0.2)
    assert normal.std().item() == pytest.approx(2, abs=0.2)


def test_variants():
    x = torch.zeros(2, 3, dtype=torch.int32)
    assert_is(x.new_full((4,), 7), [7] * 4, torch.int32)
    assert_is(torch.full_like(x, 7), [[7] * 3] * 2, torch.int32)
    torch.testing.assert_close(
        torch.logspace(-3, 0, 4), torch.tensor([0.001, 0.01, 0.1, 1])
    )
    first, again = (
        torch.rand(3, generator=torch.Generator().manual_seed(0)) for _ in range(2)
    )
    assert torch.equal(first, again)


def test_only_a_bool_mask_hides_the_future():
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 1, 4, 8)
    causal = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    mask = torch.ones(4, 4, dtype=torch.bool).tril()
    assert mask.tolist() == np.tri(4, dtype=bool).tolist()
    masked = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    torch.testing.assert_close(masked, causal)
    added = F.scaled_dot_product_attention(q, k, v, attn_mask=mask.float())
    assert (added - causal).abs().max() > 0.1


def test_what_is_refused():
    with raises_as_documented(PAGE, "NotImplementedError: "):
        torch.rand(2, dtype=torch.long)
    with raises_as_documented(PAGE, "TypeError: full()"):
        torch.full(3, 7.0)
    with raises_as_documented(PAGE, "TypeError: zeros()"):
        torch.zeros((2,), 3)
    with raises_as_documented(PAGE, "RuntimeError: random_ expects"):
        torch.randint(5, 5, (2,))
    with raises_as_documented(PAGE, "RuntimeError: Trying to create"):
        torch.randn(2, -1)
    with raises_as_documented(PAGE, "RuntimeError: zeros"):
        torch.zeros(2, -1)
    assert torch.randint(5, 6, (3,)).tolist() == [5, 5, 5]
