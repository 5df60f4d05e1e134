"""err-size-of-tensor-a: each cause raised, each mend tried."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torchvision.transforms.v2.functional import normalize

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "errors/err-size-of-tensor-a"
ANSWER = recipes()["err-size-of-tensor-a"].answer


def fits(fails, mended) -> torch.Tensor:
    """The mended one's result; the other must raise the page's message."""
    with pytest.raises(RuntimeError, match=r"size of tensor a \(\d+\) must match"):
        fails()
    return mended()


def test_the_demonstration_scales_channel_by_channel():
    found = load_snippet("errors/err_size_of_tensor_a.py")
    for channel, gain in enumerate((1, 2, 3)):
        assert torch.equal(found.y[:, channel], gain * found.x[:, channel])
    with raises_as_documented(PAGE, "RuntimeError: The size of tensor a (4)"):
        found.x * found.gain


def test_the_answer_shows_the_shapes_aligned_on_the_right(capsys):
    names = {"x": torch.ones(2, 5, 7, 9), "gain": torch.arange(5.0)}
    exec(ANSWER.text, names)
    first, second = capsys.readouterr().out.splitlines()
    assert first.endswith("[2, 5, 7, 9]")
    assert second.endswith("[5]")
    assert len(first) == len(second)
    expected = torch.einsum("bchw,c->bchw", names["x"], names["gain"])
    assert torch.equal(names["y"], expected)


def test_outputs_and_labels():
    x, y = torch.randn(4, 6), torch.randn(4, 5)
    fits(lambda: nn.Linear(6, 10)(x) - y, lambda: nn.Linear(6, 5)(x) - y)


def test_a_skip_connection():
    x = torch.randn(1, 64, 16, 16)
    fits(
        lambda: x + nn.Conv2d(64, 64, 3)(x),
        lambda: x + nn.Conv2d(64, 64, 3, padding=1)(x),
    )
    wide = nn.Conv2d(64, 128, 3, padding=1)
    fits(lambda: x + wide(x), lambda: nn.Conv2d(64, 128, 1)(x) + wide(x))


def test_an_odd_size_that_was_halved():
    skip = torch.randn(1, 8, 57, 57)
    up = F.interpolate(F.max_pool2d(skip, 2), scale_factor=2)
    mended = fits(lambda: up + skip, lambda: F.interpolate(up, size=skip.shape[-2:]))
    assert mended.shape == skip.shape


def test_an_alpha_channel():
    means = [0.5] * 3
    fits(
        lambda: normalize(torch.rand(4, 8, 8), means, means),
        lambda: normalize(torch.rand(3, 8, 8), means, means),
    )


def test_a_text_that_is_too_long():
    positions = torch.randn(1, 512, 4)
    text = torch.randn(2, 513, 4)
    fits(lambda: text + positions, lambda: text[:, :512] + positions)


def test_a_last_batch_that_is_smaller():
    noise, x = torch.randn(64, 3), torch.randn(32, 3)
    fits(lambda: x + noise, lambda: x + torch.randn(len(x), 3))


def test_a_mask_on_attention_scores():
    scores, mask = (
        torch.zeros(2, 3, 5, 5),
        torch.tensor([[1, 1, 1, 0, 0], [1] * 5]) == 1,
    )
    masked = fits(
        lambda: scores.masked_fill(~mask, -1),
        lambda: scores.masked_fill(~mask[:, None, None, :], -1),
    )
    assert masked[0, :, :, 3:].eq(-1).all()
    assert masked[1].eq(0).all()


def test_what_fits_by_accident_says_nothing():
    x, gain = torch.ones(1, 3, 3, 3), torch.tensor([1.0, 2.0, 3.0])
    assert not torch.equal(x * gain, x * gain[:, None, None])
    assert (torch.ones(4, 1) - torch.ones(4)).shape == (4, 4)


def test_the_neighbouring_messages():
    with raises_as_documented(PAGE, "RuntimeError: output with shape"):
        torch.ones(3, 1).add_(torch.ones(3, 4))


def test_an_index_selects_other_rows_than_are_given():
    x, y, mask = torch.zeros(100), torch.ones(92), torch.arange(100) < 40
    with raises_as_documented(PAGE, "RuntimeError: shape mismatch: value tensor"):
        x[mask] = y
    x[mask] = y[mask[:92]]
    assert x.sum() == 40
