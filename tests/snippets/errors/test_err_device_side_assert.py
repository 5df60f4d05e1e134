"""err-device-side-assert: what the CPU says of each mistake, and a hand-made loss."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.helpers import ROOT, load_snippet, quoted, raises_as_documented, recipes

PAGE = "errors/err-device-side-assert"


def test_the_snippet_names_both_numbers(capsys):
    snippet = load_snippet("errors/err_device_side_assert.py")
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["labels [1, 2, 3] for 3 classes", "ids 7 to 10 of 10"]
    assert lines[2:4] == [
        "on the CPU: Target 3 is out of bounds.",
        "on the CPU: index out of range in self",
    ]
    # The mean over the labels that count, of -log softmax at the right class.
    assert snippet.target.tolist() == [0, 2, 1, -100]
    chances = snippet.logits.double().exp()
    chances /= chances.sum(1, keepdim=True)
    by_hand = -(chances[0, 0] * chances[1, 2] * chances[2, 1]).log() / 3
    assert lines[4] == f"fixed: the loss is {by_hand:.2f}"


def test_the_answer_on_masks_and_sequences(capsys):
    logits, target = torch.zeros(2, 3, 4, 4), torch.full((2, 4, 4), 255)
    target[:, 0] = -100
    names = {"logits": logits, "target": target}
    exec(recipes()["err-device-side-assert"].answer.text, names)
    assert capsys.readouterr().out == "labels [255] for 3 classes\n"


@pytest.mark.parametrize("label", [3, -1, 255])
def test_labels_out_of_range(label):
    with pytest.raises(IndexError, match=f"Target {label} is out of bounds"):
        F.cross_entropy(torch.zeros(1, 3), torch.tensor([label]))
    with raises_as_documented(PAGE, "IndexError: Target"):
        F.cross_entropy(torch.zeros(1, 3), torch.tensor([3]))


def test_the_fixes_for_masks():
    mask = torch.tensor([[[0, 255], [1, 2]]])
    logits = torch.zeros(1, 3, 2, 2)
    loss = F.cross_entropy(logits, mask, ignore_index=255)
    torch.testing.assert_close(loss, torch.tensor(3.0).log())
    assert (torch.tensor([0, 255, 255]) > 0).long().tolist() == [0, 1, 1]


def test_what_the_cpu_says_of_the_others():
    for bad in (3, -1, -100):
        with raises_as_documented(PAGE, "IndexError: index out of range in self"):
            nn.Embedding(3, 2)(torch.tensor([bad]))
    with pytest.raises(RuntimeError, match="elements of target should be between 0"):
        F.binary_cross_entropy(torch.tensor([0.5]), torch.tensor([255.0]))
    page = (ROOT / f"docs/en/{PAGE}.md").read_text("utf-8")
    with pytest.raises(IndexError) as caught:
        torch.zeros(2, 3)[torch.tensor([5])]
    assert str(caught.value) in page
    for compute in (
        lambda: torch.zeros(2, 3).gather(1, torch.tensor([[3], [0]])),
        lambda: torch.zeros(2, 3).scatter_(1, torch.tensor([[3], [0]]), 1.0),
    ):
        with raises_as_documented(PAGE, "RuntimeError: index 3 is out of"):
            compute()
    for bad in (1.2, -0.1, float("nan")):
        with raises_as_documented(PAGE, "RuntimeError: all elements of input"):
            F.binary_cross_entropy(torch.tensor([bad]), torch.tensor([1.0]))
        F.binary_cross_entropy_with_logits(torch.tensor([bad]), torch.tensor([1.0]))
    with raises_as_documented(PAGE, "RuntimeError: probability tensor"):
        torch.multinomial(torch.tensor([float("nan"), 1.0]), 1)


def test_the_check_of_a_data_set_finds_one_bad_label():
    dataset, C = [(None, 0), (None, 2), (None, 1)], 3
    assert all(0 <= y < C for _, y in dataset)
    assert not all(0 <= y < C for _, y in [*dataset, (None, 3)])


@pytest.mark.skipif(torch.version.cuda is None, reason="not a CUDA build")
def test_what_cuda_calls_a_failed_assertion():
    cudart = torch._C._cudart
    text = cudart.cudaGetErrorString(cudart.cudaError(710))
    assert quoted(PAGE, f"AcceleratorError: CUDA error: {text}")
