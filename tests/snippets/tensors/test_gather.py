"""gather: against NumPy and loops, its gradient by hand, what it refuses."""

import numpy as np
import torch

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/gather"
snippet = load_snippet("tensors/gather.py")


def test_one_value_per_row():
    logits, label = snippet.logits.tolist(), snippet.label.tolist()
    assert snippet.picked.tolist() == [
        row[i] for row, i in zip(logits, label, strict=True)
    ]


def test_several_values_per_row_are_those_of_numpy():
    assert snippet.index.tolist() == [[2, 0], [1, 1]]
    expected = np.take_along_axis(snippet.logits.numpy(), snippet.index.numpy(), 1)
    np.testing.assert_array_equal(snippet.several, expected)


def test_the_state_at_the_end_of_each_sequence():
    assert snippet.last.shape == (2, 3)
    for b, t in enumerate([1, 3]):
        assert torch.equal(snippet.last[b], snippet.hidden[b, t])


def test_the_answer_for_one_sample_in_bfloat16():
    hidden = torch.randn(1, 4, 3, dtype=torch.bfloat16)
    names = {"logits": hidden[:, 0], "hidden": hidden, "end": torch.tensor([0])}
    names |= {"label": torch.tensor([2]), "index": torch.tensor([[0, 0, 1, 2]])}
    exec(answer("gather"), names)
    assert torch.equal(names["picked"], hidden[:, 0, 2])
    assert torch.equal(names["several"], hidden[:, 0, [0, 0, 1, 2]])
    assert torch.equal(names["last"], hidden[:, 0])


def test_the_log_probability_of_each_token():
    logits, ids = torch.randn(2, 3, 5), torch.tensor([[0, 1, 2], [2, 2, 1]])
    logp = logits.log_softmax(-1).gather(-1, ids[..., None]).squeeze(-1)
    loss = torch.nn.functional.cross_entropy(logits.mT, ids, reduction="none")
    torch.testing.assert_close(logp, -loss)
    wrong = logits.log_softmax(-1).gather(1, ids[:, None]).squeeze(1)
    assert wrong.shape == logp.shape
    assert not wrong.allclose(logp)


def test_the_first_line_takes_masks_of_segmentation():
    logits, mask = torch.randn(2, 4, 3, 5), torch.randint(4, (2, 3, 5))
    names = {"logits": logits, "label": mask}
    line = next(t for t in answer("gather").splitlines() if t.startswith("picked"))
    exec(line, names)
    for n, i, j in np.ndindex(2, 3, 5):
        assert names["picked"][n, i, j] == logits[n, mask[n, i, j], i, j]


def test_along_any_dimension_as_the_page_says():
    x = torch.randn(4, 5, 6)
    index = torch.randint(4, (2, 5, 6))
    out = x.gather(0, index)
    for i, j, k in np.ndindex(2, 5, 6):
        assert out[i, j, k] == x[index[i, j, k], j, k]


def test_the_gradient_is_added_up_at_the_picked_places():
    x = torch.zeros(1, 3, requires_grad=True)
    out = x.gather(1, torch.tensor([[1, 1, 2]]))
    (out * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [[0, 11, 100]]


def test_gather_does_not_broadcast_and_take_along_dim_does():
    x, index = torch.randn(2, 4, 3), torch.tensor([1, 3])[:, None, None]
    assert x.gather(1, index).shape == (2, 1, 1)
    assert torch.take_along_dim(x, index, dim=1).shape == (2, 1, 3)
    expanded = x.gather(1, index.expand(-1, -1, 3))
    assert torch.equal(expanded, torch.take_along_dim(x, index, dim=1))
    assert x[:, 0].gather(1, torch.tensor([[1]])).shape == (1, 1)  # fewer rows


def test_a_colon_takes_all_columns_of_all_rows():
    assert snippet.logits[:, snippet.label].shape == (2, 2)
    assert snippet.several.shape == snippet.index.shape


def test_ignored_labels_are_masked():
    logp = torch.randn(3, 4).log_softmax(1)
    label = torch.tensor([2, -100, 0])
    picked = logp.gather(1, label.clamp(min=0)[:, None]).squeeze(1)
    kept = picked[label >= 0]
    loss = torch.nn.functional.nll_loss(logp, label)
    torch.testing.assert_close(-kept.mean(), loss)


def test_int32_is_accepted_and_floats_are_not():
    index = snippet.index
    assert torch.equal(snippet.logits.gather(1, index.int()), snippet.several)
    with raises_as_documented(PAGE, "RuntimeError: gather(): Expected dtype"):
        snippet.logits.gather(1, index.float())
    with raises_as_documented(PAGE, "IndexError: tensors used as indices"):
        snippet.logits[torch.arange(2), snippet.label.float()]


def test_wrong_shapes_are_refused():
    x = torch.zeros(3, 4)
    with raises_as_documented(PAGE, "RuntimeError: Index tensor must"):
        x.gather(1, torch.tensor([0, 1, 2]))
    with raises_as_documented(PAGE, "RuntimeError: Size does not match"):
        x.gather(1, torch.zeros(4, 1, dtype=torch.long))
    with raises_as_documented(PAGE, "IndexError: shape mismatch"):
        x[torch.arange(3), torch.tensor([0, 1])]
    with raises_as_documented(PAGE, "RuntimeError: torch.take_along_dim()"):
        torch.take_along_dim(x, torch.tensor([0, 1, 2]), dim=1)


def test_wrong_values_are_refused():
    with raises_as_documented(PAGE, "RuntimeError: index -100 is out"):
        torch.zeros(3, 4).gather(1, torch.tensor([[-100], [0], [1]]))
    negative = torch.take_along_dim(snippet.logits, torch.tensor([[-1], [-1]]), 1)
    assert torch.equal(negative, snippet.logits[:, -1:])


def test_a_sparse_gradient_stops_at_a_layer():
    index = torch.zeros(3, 1, dtype=torch.long)
    y = torch.nn.Linear(4, 4)(torch.randn(3, 4))
    with raises_as_documented(PAGE, "NotImplementedError: Could not run 'aten::view'"):
        y.gather(1, index, sparse_grad=True).sum().backward()
