"""embedding-layer: against NumPy's indexing and one-hot products; each pitfall."""

import numpy as np
import torch
from torch import nn

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "models/embedding-layer"
ANSWER = recipes()["embedding-layer"].answer
snippet = load_snippet("models/embedding_layer.py")


def test_the_answer_alone():
    names = {"vocab": {"<pad>": 0, "a": 1, "b": 2}, "ids": torch.tensor([[2, 1, 0]])}
    assert ANSWER.yours.keys() == names.keys()
    exec(ANSWER.text, names)
    assert names["vectors"].shape == (1, 3, 8)
    assert torch.equal(names["vectors"][0, 0], names["embedding"].weight[2])
    assert not names["vectors"][0, 2].any()


def test_the_vectors_are_rows_of_the_table():
    table = snippet.embedding.weight.detach().numpy()
    rows = torch.from_numpy(table[snippet.ids.numpy()])
    assert torch.equal(snippet.embedding(snippet.ids).detach(), rows)
    assert rows.shape == (1, 4, 8)
    np.testing.assert_array_equal(table[0], 0)
    assert np.abs(table[1:]).min() > 0


def test_it_is_a_product_with_one_hot():
    one_hot = nn.functional.one_hot(snippet.ids, 5).float()
    torch.testing.assert_close(
        snippet.embedding(snippet.ids), one_hot @ snippet.embedding.weight
    )


def test_the_learned_layer():
    learned = nn.Embedding(5, 3, padding_idx=0)
    assert learned.weight.requires_grad
    assert learned.weight[0].tolist() == [0, 0, 0]
    assert learned.weight[1:].abs().min() > 0


def test_every_row_but_the_padding_gets_its_count_as_gradient():
    layer = nn.Embedding.from_pretrained(torch.ones(4, 2), freeze=False, padding_idx=0)
    layer(torch.tensor([0, 0, 1, 1, 1, 3])).sum().backward()
    assert layer.weight.grad[:, 0].tolist() == [0, 3, 0, 1]


def test_what_is_printed(capsys):
    load_snippet("models/embedding_layer.py")
    lines = capsys.readouterr().out.splitlines()
    gradients = {line.split()[0]: line.split()[2] for line in lines}
    assert list(gradients.items()) == [*zip(snippet.vocab, "01110", strict=True)]


def test_an_id_too_large():
    with raises_as_documented(PAGE, "IndexError: index out of range in self"):
        nn.Embedding(5, 3)(torch.tensor([5]))


def test_from_pretrained_freezes_and_shares():
    weight = torch.ones(3, 2)
    layer = nn.Embedding.from_pretrained(weight)
    assert not layer.weight.requires_grad
    layer.weight[0, 0] = 7
    assert weight[0, 0] == 7


def test_the_padding_row_is_only_zero_if_somebody_makes_it_zero():
    weight = torch.ones(3, 2)
    layer = nn.Embedding.from_pretrained(weight, freeze=False, padding_idx=0)
    assert layer.weight[0].tolist() == [1, 1]
    layer(torch.tensor([0, 1])).sum().backward()
    torch.optim.SGD(layer.parameters(), lr=1).step()
    assert layer.weight[0].tolist() == [1, 1], "it must not train"
    assert layer.weight[1].tolist() == [0, 0]
    fresh = nn.Embedding(3, 2, padding_idx=0)
    nn.init.normal_(fresh.weight)
    assert fresh.weight[0].abs().min() > 0
    with torch.no_grad():
        fresh.weight[0].zero_()
    assert fresh(torch.tensor([0])).tolist() == [[0, 0]]


def test_float_ids():
    with raises_as_documented(PAGE, "RuntimeError: Expected tensor for argument #1"):
        nn.Embedding(5, 3)(torch.tensor([1.0]))
    assert nn.Embedding(5, 3)(torch.tensor([1.0]).long()).shape == (1, 3)
    assert nn.Embedding(5, 3)(torch.tensor([1], dtype=torch.int32)).shape == (1, 3)


def test_vectors_from_numpy_are_double():
    vectors = torch.from_numpy(np.ones((3, 2)))
    layer, linear = nn.Embedding.from_pretrained(vectors), nn.Linear(2, 2)
    with raises_as_documented(PAGE, "RuntimeError: mat1 and mat2 must have the same"):
        linear(layer(torch.tensor([1])))
    linear(nn.Embedding.from_pretrained(vectors.float())(torch.tensor([1])))


def test_an_array_is_no_tensor():
    with raises_as_documented(PAGE, "AttributeError: 'numpy.ndarray' object has no"):
        nn.Embedding.from_pretrained(np.ones((3, 2)))


def test_a_list_is_no_tensor():
    with raises_as_documented(PAGE, "TypeError: embedding(): argument 'indices'"):
        nn.Embedding(5, 3)([1, 2])


def test_sparse_gradients_and_adam():
    layer = nn.Embedding(5, 2, sparse=True)
    layer(torch.tensor([1])).sum().backward()
    optimizer = torch.optim.Adam(layer.parameters())
    with raises_as_documented(PAGE, "RuntimeError: Adam does not support sparse"):
        optimizer.step()
    before = layer.weight.detach().clone()
    torch.optim.SparseAdam(layer.parameters()).step()
    changed = (layer.weight != before).any(1)
    assert changed.nonzero().tolist() == [[1]]


def test_the_variants():
    grown = nn.Embedding(6, 8, padding_idx=0)
    with torch.no_grad():
        grown.weight[:5] = snippet.embedding.weight
    assert torch.equal(grown(snippet.ids), snippet.embedding(snippet.ids))
    bag = nn.EmbeddingBag.from_pretrained(
        snippet.embedding.weight.detach(), mode="mean", padding_idx=0
    )
    mean = snippet.embedding(snippet.ids).detach()[:, :3].mean(1)
    torch.testing.assert_close(bag(snippet.ids), mean)
