"""graph-convolution: against the dense normalised adjacency matrix in NumPy."""

import re
import runpy

import numpy as np
import pytest
import torch

from tests.helpers import load_snippet, raises_as_documented

PAGE = "models/graph-convolution"
snippet = load_snippet("models/graph_convolution.py")
path = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])  # 0 - 1 - 2, both ways


def dense(edge_index, n):
    """D^-1/2 (A + I) D^-1/2 with A[i, j] = 1 for an edge from j to i."""
    matrix = np.eye(n)
    for source, target in edge_index.T.tolist():
        matrix[target, source] += 1
    scale = np.diag(matrix.sum(1) ** -0.5)
    return scale @ matrix @ scale


def random_graph(n=12, seed=0):
    torch.manual_seed(seed)
    adjacency = torch.bernoulli(torch.full((n, n), 0.3)).triu(1)
    edge_index = (adjacency + adjacency.T).nonzero().T
    return torch.randn(n, 4, dtype=torch.float64), edge_index


def test_hand_worked_path():
    x = torch.tensor([[2.0], [6.0], [4.0]])  # degrees with loops: 2, 3, 2
    out = snippet.propagate(x, path)
    expected = [2 / 2 + 6 / 6**0.5, 6 / 3 + 6 / 6**0.5, 4 / 2 + 6 / 6**0.5]
    assert out[:, 0].tolist() == pytest.approx(expected)


def test_against_the_dense_matrix():
    x, edge_index = random_graph()
    out = snippet.propagate(x, edge_index)
    expected = dense(edge_index, len(x)) @ x.numpy()
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-12)
    directed = edge_index[:, edge_index[0] < edge_index[1]]
    out = snippet.propagate(x, directed)
    expected = dense(directed, len(x)) @ x.numpy()
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-12)
    back = torch.cat([directed, directed.flip(0), directed], 1).unique(dim=1)
    assert torch.equal(back, edge_index)


def test_the_model_is_two_layers_of_the_paper():
    x, edge_index = random_graph()
    model = snippet.GCN(4, 5, 3).double()
    a = dense(edge_index, len(x))
    (w1, b1, w2, b2) = (p.detach().numpy() for p in model.parameters())
    assert [p.shape for p in (w1, w2)] == [(5, 4), (3, 5)]
    h = np.maximum(a @ (x.numpy() @ w1.T) + b1, 0)  # as GCNConv: sum, then bias
    expected = a @ (h @ w2.T) + b2
    out = model(x, edge_index)
    np.testing.assert_allclose(out.detach().numpy(), expected, rtol=1e-9, atol=1e-12)
    out.sum().backward()
    assert all(p.grad.abs().sum() > 0 for p in model.parameters())


def test_a_node_without_edges_keeps_its_own():
    x = torch.randn(3, 2)
    no_edge = torch.empty(2, 0, dtype=torch.long)
    assert torch.equal(snippet.propagate(x, no_edge), x)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_the_dtype_stays(dtype):
    star = torch.stack([torch.arange(1, 400), torch.zeros(399, dtype=torch.long)])
    star = torch.cat([star, star.flip(0)], 1)
    out = snippet.propagate(torch.ones(400, 1, dtype=dtype), star)
    assert out.dtype == dtype
    expected = dense(star, 400) @ np.ones((400, 1))
    rtol = {torch.float16: 0.02, torch.bfloat16: 0.1}.get(dtype, 1e-12)
    np.testing.assert_allclose(out[1:].double().numpy(), expected[1:], rtol=rtol)


def test_the_model_in_bfloat16():
    model = snippet.GCN(4, 5, 3).bfloat16()
    x, edge_index = random_graph(6, seed=1)
    assert model(x.bfloat16(), edge_index).dtype == torch.bfloat16


def test_a_batch_is_where_its_graphs_are(monkeypatch):
    """What the batch is made of is asked for on the device of the first graph."""
    devices, arange, tensor = [], torch.arange, torch.tensor

    def watched(make):
        def call(*args, device=None):
            devices.append(device)
            return make(*args)

        return call

    monkeypatch.setattr(torch, "arange", watched(arange))
    monkeypatch.setattr(torch, "tensor", watched(tensor))
    graph = torch.ones(2, 3), torch.zeros(2, 1, dtype=torch.long)
    snippet.batch_graphs([graph, graph])
    assert devices == [graph[0].device] * 2


def test_a_batch_gives_what_each_graph_gives():
    x1, e1 = random_graph(5, seed=1)
    x2, e2 = random_graph(12, seed=2)
    x3, e3 = random_graph(3, seed=3)
    x, edge_index, batch = snippet.batch_graphs([(x1, e1), (x2, e2), (x3, e3)])
    assert batch.tolist() == [0] * 5 + [1] * 12 + [2] * 3
    alone = [snippet.propagate(*g) for g in ((x1, e1), (x2, e2), (x3, e3))]
    out = snippet.propagate(x, edge_index)
    torch.testing.assert_close(out, torch.cat(alone))
    mean = out.new_zeros(3, 4).index_add(0, batch, out)
    mean = mean / batch.bincount()[:, None]
    torch.testing.assert_close(mean[1], alone[1].mean(0))
    plain = snippet.propagate(x, torch.cat([e1, e2, e3], 1))  # no offsets, no error
    assert not torch.allclose(plain, out)
    assert torch.equal(plain[12:], x[12:])  # no edge reaches the later graphs


def test_ids_out_of_range():
    x = torch.randn(4, 3)
    with raises_as_documented(PAGE, "IndexError: index 4"):
        snippet.propagate(x, torch.tensor([[0, 4], [1, 0]]))
    edges = torch.tensor([[900, 17], [17, 42]])
    ids, edge_index = edges.unique(return_inverse=True)
    assert ids.tolist() == [17, 42, 900]
    assert edge_index.tolist() == [[2, 0], [0, 1]]


def test_what_is_refused():
    x = torch.randn(4, 3)
    with raises_as_documented(PAGE, "RuntimeError: Sizes of tensors"):
        snippet.propagate(x, torch.tensor([[0, 1], [1, 2], [2, 0]]))
    with raises_as_documented(PAGE, 'NotImplementedError: "bincount_cpu"'):
        snippet.propagate(x, path.float())


def test_loops_in_the_data_count_twice_unless_dropped():
    x, edge_index = random_graph()
    looped = torch.cat([edge_index, torch.tensor([[0], [0]])], 1)
    kept = looped[:, looped[0] != looped[1]]
    assert not torch.allclose(
        snippet.propagate(x, looped), snippet.propagate(x, edge_index)
    )
    assert torch.equal(kept, edge_index)


def test_many_sums_make_neighbours_alike():
    x, edge_index = random_graph()
    steps = [x]
    for _ in range(20):
        steps.append(snippet.propagate(steps[-1], edge_index))
    ranks = [np.linalg.svd(s.numpy(), compute_uv=False) for s in steps]
    assert ranks[20][1] / ranks[20][0] < 1e-3 < ranks[0][1] / ranks[0][0]


def test_the_demonstration_learns_from_15_labels(capsys):
    runpy.run_path(snippet.__file__, run_name="__main__")
    right = int(
        re.fullmatch(r"other nodes right: (\d+)%\n", capsys.readouterr().out)[1]
    )
    assert right >= 85
