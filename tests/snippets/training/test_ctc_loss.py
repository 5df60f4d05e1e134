"""ctc-loss: against the sum over every path, counted out."""

from itertools import groupby, product

import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, raises_as_documented

PAGE = "training/ctc-loss"
snippet = load_snippet("training/ctc_loss.py")
torch.manual_seed(0)
LOG_PROBS = torch.randn(4, 1, 3, dtype=torch.float64).log_softmax(-1)  # (T, N, C)


def read(path) -> list[int]:
    return [label for label, _ in groupby(path) if label]


def by_counting(log_probs, target: list[int]) -> float:
    """Minus the log of the probability of all paths that read as the target."""
    T, C = log_probs.shape
    paths = (path for path in product(range(C), repeat=T) if read(path) == target)
    total = sum(log_probs[range(T), path].sum().exp() for path in paths)
    return -torch.as_tensor(total).log().item()


@pytest.mark.parametrize("target", [[1], [2, 1], [1, 1], [1, 2, 1, 2]])
def test_the_loss_is_that_of_all_paths(target):
    loss = nn.CTCLoss(reduction="none")(
        LOG_PROBS, torch.tensor([target]), [4], [len(target)]
    )
    assert loss.item() == pytest.approx(by_counting(LOG_PROBS[:, 0], target))


def test_the_snippet_leaves_padding_out_and_counts_per_letter():
    """Its loss, from each sample alone, cut to its frames and letters."""
    lengths = zip(
        snippet.input_lengths.tolist(), snippet.target_lengths.tolist(), strict=True
    )
    alone = [
        nn.CTCLoss(reduction="none")(
            snippet.logits[n, :T].double().log_softmax(-1)[:, None],
            snippet.targets[n : n + 1, :S],
            [T],
            [S],
        ).item()
        / S
        for n, (T, S) in enumerate(lengths)
    ]
    assert snippet.loss.item() == pytest.approx(sum(alone) / 2, rel=1e-5)
    padding = snippet.logits.grad[1, 40:]
    assert (padding == 0).all()
    assert snippet.targets.min() > 0
    assert snippet.log_probs.shape == (50, 2, 28)


def test_the_longest_length_of_a_model_with_stride_four():
    conv = nn.Conv1d(1, 1, 7, stride=2, padding=3)
    for frames in range(8, 20):
        out = conv(conv(torch.zeros(1, 1, frames)))
        assert out.shape[2] == (frames + 3) // 4


def test_too_few_frames_are_infinite_or_left_out():
    """Two equal letters need a frame between them."""
    inputs = LOG_PROBS[:2], torch.tensor([[1, 1]]), [2], [2]
    assert nn.CTCLoss()(*inputs).item() == float("inf")
    assert snippet.loss_fn(*inputs).item() == 0
    assert snippet.loss_fn.blank == 0


def test_logits_give_negative_losses():
    sample = torch.tensor([[1]]), [4], [1]
    assert nn.CTCLoss()(5 + torch.zeros(4, 1, 3), *sample) < 0
    assert nn.CTCLoss()(torch.full((4, 1, 3), 1 / 3), *sample) < 0  # softmax


def test_labels_without_padding_are_one_vector():
    flat = torch.cat([snippet.targets[0], snippet.targets[1, :7]])
    loss = snippet.loss_fn(
        snippet.log_probs, flat, snippet.input_lengths, snippet.target_lengths
    )
    assert loss.item() == pytest.approx(snippet.loss.item())


def test_messages():
    log_probs, targets = snippet.log_probs.detach(), snippet.targets
    frames, letters = snippet.input_lengths, snippet.target_lengths
    with raises_as_documented(PAGE, "RuntimeError: input_lengths must be of size"):
        snippet.loss_fn(log_probs.transpose(0, 1), targets, frames, letters)
    with raises_as_documented(PAGE, "RuntimeError: Expected input_lengths"):
        snippet.loss_fn(log_probs, targets, frames + 10, letters)
    with raises_as_documented(PAGE, "RuntimeError: input_lengths must be integral"):
        snippet.loss_fn(log_probs, targets, frames.float(), letters)
    with raises_as_documented(PAGE, "NotImplementedError: "):
        snippet.loss_fn(log_probs.half(), targets, frames, letters)
    with pytest.raises(NotImplementedError, match=r"ctc_loss_cpu.*BFloat16"):
        snippet.loss_fn(log_probs.bfloat16(), targets, frames, letters)
