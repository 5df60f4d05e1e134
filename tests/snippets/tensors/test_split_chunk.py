"""split-chunk: against NumPy's splits and slices, what is shared, bad input."""

import io
import math

import numpy as np
import pytest
import torch

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/split-chunk"
snippet = load_snippet("tensors/split_chunk.py")
x = snippet.x


def same(pieces, expected):
    assert [p.tolist() for p in pieces] == [e.tolist() for e in expected]


def test_the_pieces_are_those_of_numpy():
    array = np.arange(20).reshape(10, 2)
    np.testing.assert_array_equal(x, array)
    same(snippet.pieces, [array[:4], array[4:8], array[8:]])
    same((snippet.a, snippet.b, snippet.c), np.split(array, [5, 8]))
    same(snippet.parts, [array[:3], array[3:6], array[6:9], array[9:]])
    same(snippet.even, np.array_split(array, 4))
    same(snippet.cut, np.split(array, [3, 8]))
    same(snippet.rows, list(array))
    same((snippet.left, snippet.right), [array[:, :1], array[:, 1:]])
    assert len(snippet.parts) == len(snippet.even) == 4


@pytest.mark.parametrize("N", [8, 9, 33])
def test_the_answer_for_another_number_of_rows(N):
    x = torch.rand(N, 3).bfloat16()
    names = {"x": x}
    exec(answer("split-chunk"), names)
    for pieces in ("pieces", "parts", "even"):
        assert torch.equal(torch.cat(names[pieces]), x)
    assert [len(names[name]) for name in "abc"] == [5, 3, N - 8]
    assert len(names["even"]) == 4


@pytest.mark.parametrize("n", range(1, 13))
def test_how_many_pieces(n):
    same(x.chunk(n), x.split(math.ceil(10 / n)))
    assert len(x.chunk(n)) <= n
    assert len(x.tensor_split(n)) == n
    sizes = [len(p) for p in x.tensor_split(n)]
    assert max(sizes) - min(sizes) <= 1


def test_unpacking():
    with raises_as_documented(PAGE, "ValueError: not enough"):
        _a, _b, _c = torch.arange(4).chunk(3)
    assert len(torch.arange(4).tensor_split(3)) == 3
    with raises_as_documented(PAGE, "ValueError: too many"):
        _a, _b = torch.arange(10).split(2)


@pytest.mark.parametrize("cut", [torch.split, torch.chunk])
def test_pieces_are_views(cut):
    base = torch.zeros(4)
    a, _ = cut(base, 2)
    a += 1
    assert base.tolist() == [1, 1, 0, 0]
    b = cut(base, 2)[0].clone()
    b += 1
    assert base.tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize("cut", [torch.split, torch.chunk, torch.unbind])
def test_autograd_refuses_to_change_a_piece(cut):
    whole = torch.ones(2, requires_grad=True) * 1
    piece = cut(whole)[0] if cut is torch.unbind else cut(whole, 2)[0]
    with pytest.raises(RuntimeError, match="is a view and is being modified inplace"):
        piece += 1


@pytest.mark.skipif(
    torch.__version__ < "2.13", reason="PyTorch 2.11 writes SplitBackward0"
)
def test_what_autograd_says():
    piece = (torch.ones(2, requires_grad=True) * 1).split(1)[0]
    with raises_as_documented(PAGE, "RuntimeError: Output 0 of Split is"):
        piece += 1


def test_gradients_reach_the_whole():
    w = torch.ones(5, requires_grad=True)
    a, b = w.split([2, 3])
    (a.sum() + 10 * b.sum()).backward()
    assert w.grad.tolist() == [1, 1, 10, 10, 10]


def test_a_saved_piece():
    def size(tensor):
        buffer = io.BytesIO()
        torch.save(tensor, buffer)
        return buffer.tell()

    whole = torch.zeros(100_000)
    piece = whole.split(10)[0]
    assert size(piece) > 400_000 > 10_000 > size(piece.clone())


def test_what_is_refused():
    with raises_as_documented(PAGE, "RuntimeError: split_with_sizes"):
        x.split([3, 3])
    assert [len(p) for p in x.tensor_split([3, 6])] == [3, 3, 4]
    with raises_as_documented(PAGE, "TypeError: split_with_sizes"):
        x.split(len(x) / 2)


def test_sequences_of_different_lengths():
    lengths = torch.tensor([3, 0, 7])
    assert [len(p) for p in x.split(lengths.tolist())] == [3, 0, 7]
