"""list-of-tensors: against the elements of the lists, gradients, what is refused."""

import warnings
from contextlib import contextmanager

import numpy as np
import torch
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from tests.chains.pasted import answer
from tests.helpers import ROOT, assert_documented, load_snippet, raises_as_documented

PAGE = "tensors/list-of-tensors"
snippet = load_snippet("tensors/list_of_tensors.py")


def test_stack_keeps_every_tensor():
    assert snippet.batch.shape == (4, 3, 8, 8)
    for image, original in zip(snippet.batch, snippet.images, strict=True):
        assert torch.equal(image, original)


def test_arrays_go_through_numpy():
    assert snippet.table.shape == (4, 5)
    assert snippet.table.dtype == torch.float32
    np.testing.assert_allclose(snippet.table, np.array(snippet.arrays), rtol=1e-6)


def test_shorter_sequences_are_padded():
    assert snippet.padded.tolist() == [[7, 8, 0], [4, 5, 6]]


def test_the_mean_of_losses_has_a_gradient():
    assert snippet.mean.item() == (0.5 + 0.25) / 2
    snippet.mean.backward()
    assert snippet.losses[0].grad.item() == 0.5


@contextmanager
def warnings_caught():
    """Catch warnings that torch gives once in a process, though given before."""
    always = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield caught
    finally:
        torch.set_warn_always(always)


def test_the_answer_for_a_list_of_one_and_for_scalars():
    for images in ([torch.ones(2, dtype=torch.bool)], [torch.tensor(2)] * 3):
        names = {"images": images}
        exec(answer("list-of-tensors"), names)
        assert names["batch"].dtype == images[0].dtype
        assert names["batch"].tolist() == [image.tolist() for image in images]


def test_batches_and_numbers():
    assert snippet.rows.tolist() == [row for b in snippet.batches for row in b.tolist()]
    assert snippet.matrix.tolist() == snippet.numbers


def test_the_table_has_the_lines_of_the_file():
    """Each cell, on both pages, is what the file runs."""
    source = (ROOT / "snippets/tensors/list_of_tensors.py").read_text(encoding="utf-8")
    for language in ("en", "zh"):
        page = (ROOT / f"docs/{language}/{PAGE}.md").read_text(encoding="utf-8")
        lines = [
            row for row in page.partition("```python")[0].splitlines() if "|" in row
        ]
        cells = [
            row.split("|")[2].strip(" `") for row in lines if "`" in row.split("|")[-2]
        ]
        assert len(cells) == 6
        assert all(f" = {cell}" in source for cell in cells)


def test_torch_tensor_drops_the_gradient_and_warns():
    with warnings_caught() as caught:
        made = torch.tensor([torch.tensor(1.0, requires_grad=True)])
    assert not made.requires_grad
    warned = f"UserWarning: {caught[0].message}"
    assert_documented(PAGE, "UserWarning: Converting a tensor", warned)


def test_a_list_of_arrays_warns():
    with warnings_caught() as caught:
        torch.tensor([np.ones(2), np.ones(2)])
    warned = f"UserWarning: {caught[0].message}"
    assert_documented(PAGE, "UserWarning: Creating a tensor", warned)


def test_torch_tensor_does_not_join_tensors():
    pair = [torch.ones(2), torch.ones(2)]
    with raises_as_documented(PAGE, "ValueError: only one element"):
        torch.tensor(pair)
    with raises_as_documented(PAGE, "ValueError: only one element"):
        torch.FloatTensor(pair)
    assert torch.stack(pair).shape == (2, 2)


def test_what_else_is_refused():
    with raises_as_documented(PAGE, "ValueError: expected sequence of"):
        torch.tensor([[1, 2], [3]])
    with raises_as_documented(PAGE, "RuntimeError: stack expects each"):
        torch.stack([torch.ones(2), torch.ones(3)])
    with raises_as_documented(PAGE, "TypeError: expected Tensor as element 0"):
        torch.stack([np.ones(2)])
    with raises_as_documented(PAGE, "AttributeError: 'list' object has no"):
        [torch.ones(2)].to("cpu")
    with raises_as_documented(PAGE, "ValueError: setting an array element"):
        np.array([np.ones(2), np.ones(3)])


def test_padded_labels_are_left_out_of_the_loss():
    torch.manual_seed(0)
    labels = [torch.tensor([2, 1]), torch.tensor([0])]
    padded = pad_sequence(labels, batch_first=True, padding_value=-100)
    logits = torch.randn(2, 3, 2)  # (N, C, T)
    log_p = logits.double().log_softmax(1)
    by_hand = -(log_p[0, 2, 0] + log_p[0, 1, 1] + log_p[1, 0, 0]) / 3
    loss = F.cross_entropy(logits, padded).item()
    assert abs(loss - by_hand.item()) < 1e-5
    zeros = pad_sequence(labels, batch_first=True)
    by_hand = (3 * by_hand - log_p[1, 0, 1]) / 4
    assert abs(F.cross_entropy(logits, zeros).item() - by_hand.item()) < 1e-5


def test_the_way_back():
    x = torch.tensor([[1, 2], [3, 4]])
    assert x.tolist() == [[1, 2], [3, 4]]
    assert [row.tolist() for row in x.unbind()] == [[1, 2], [3, 4]]
    longer = torch.cat([torch.ones(2, 5), torch.ones(3, 5)])
    assert longer.shape == (5, 5)
    assert [t.to("cpu").shape for t in snippet.images] == [(3, 8, 8)] * 4
