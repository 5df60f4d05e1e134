"""compile-basics: the result against NumPy; when it compiles again."""

import numpy as np
import pytest
import torch
from torch import nn
from torch._dynamo.testing import CompileCounter

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "performance/compile-basics"


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@pytest.fixture
def counter():
    """A backend that counts compilations, and runs the graph as it is."""
    return CompileCounter()


def test_the_compiled_model_trains_as_numpy_does(counter, monkeypatch):
    """The last layer's bias, whose gradient is the mean of softmax - one-hot.

    The graphs run as they are; with Inductor the file runs as a block of its page.
    """
    compile_model = nn.Module.compile
    monkeypatch.setattr(
        nn.Module, "compile", lambda self: compile_model(self, backend=counter)
    )
    snippet = load_snippet("performance/compile_basics.py")
    assert counter.frame_count == 1
    assert list(snippet.model.state_dict())[:2] == ["hidden.weight", "hidden.bias"]
    w1, b1, w2, b2 = (p.detach().numpy() for p in snippet.model.parameters())
    g1, h1, g2, h2 = (p.grad.numpy() for p in snippet.model.parameters())
    w1, b1 = w1 + 0.1 * g1, b1 + 0.1 * h1  # before the last step
    w2, b2 = w2 + 0.1 * g2, b2 + 0.1 * h2
    hidden = snippet.x.numpy() @ w1.T + b1
    erf = torch.erf(torch.from_numpy(hidden / np.sqrt(2))).numpy()
    logits = (hidden * (1 + erf) / 2) @ w2.T + b2
    shares = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    shares[np.arange(32), snippet.y.numpy()] -= 1
    np.testing.assert_allclose(h2, shares.mean(0), atol=1e-5)


def test_the_answer_trains_on_batches_of_two_sizes(counter):
    """A loader that keeps its last small batch: one more version."""
    answer = recipes()["compile-basics"].answer
    yours = {"model", "loader", "device", "optimizer", "loss_fn"}
    assert set(answer.yours) == yours

    class Net(nn.Linear):
        def compile(self):
            super().compile(backend=counter)

    model = Net(4, 3)
    before = model.weight.detach().clone()
    sizes = (8, 8, 5)
    loader = [(torch.randn(n, 4), torch.randint(3, (n,))) for n in sizes]
    names = {"model": model, "loader": loader, "device": torch.device("cpu")}
    names["optimizer"] = torch.optim.SGD(model.parameters(), lr=0.1)
    exec(answer.text, names | {"loss_fn": nn.CrossEntropyLoss()})
    assert counter.frame_count == 2
    assert not torch.equal(model.weight, before)


def test_the_second_size_compiles_once_more_for_all(counter):
    run = torch.compile(lambda x: x * 2 + 1, backend=counter)
    counts = []
    for size in (4, 4, 5, 6, 7):
        run(torch.zeros(size, 3))
        counts.append(counter.frame_count)
    assert counts == [1, 1, 2, 2, 2]


def test_dynamic_compiles_once_and_again_for_one(counter):
    run = torch.compile(lambda x: x * 2 + 1, backend=counter, dynamic=True)
    for size in (4, 5, 6):
        run(torch.zeros(size, 3))
    assert counter.frame_count == 1
    run(torch.zeros(1, 3))
    assert counter.frame_count == 2


class Counting(nn.Module):
    def __init__(self, start):
        super().__init__()
        self.step = start

    def forward(self, x):
        self.step = self.step + 1
        return x + self.step


@pytest.mark.parametrize(("start", "compilations"), [(0, 8), (torch.tensor(0), 1)])
def test_a_python_counter_reaches_the_limit(counter, start, compilations):
    run = torch.compile(Counting(start), backend=counter)
    # The default; a library that another test imports may raise it.
    with torch._dynamo.config.patch(recompile_limit=8):
        for _ in range(10):
            run(torch.zeros(2))
    assert counter.frame_count == compilations


def test_each_mode_has_a_version(counter):
    model = nn.Dropout()
    run = torch.compile(model, backend=counter)
    run(torch.zeros(2))
    model.eval()
    run(torch.zeros(2))
    with torch.no_grad():
        run(torch.zeros(2))
    assert counter.frame_count == 3


def test_a_stance_refuses_to_compile_again():
    run = torch.compile(lambda x: x * 2, backend="eager")
    run(torch.zeros(2))
    with torch.compiler.set_stance("fail_on_recompile"):
        run(torch.zeros(2))
        with raises_as_documented(PAGE, "RuntimeError: Detected recompile"):
            run(torch.zeros(3))


def branch(x):
    if x.sum() > 0:
        return x + 1
    return x - 1


def test_fullgraph_shows_the_cut(counter):
    torch.compile(branch, backend=counter)(torch.ones(2))
    assert counter.frame_count == 2
    torch._dynamo.reset()
    with raises_as_documented(PAGE, "Unsupported: Data-dependent"):
        torch.compile(branch, backend="eager", fullgraph=True)(torch.ones(2))


def test_where_does_not_cut():
    def select(x):
        return torch.where(x.sum() > 0, x + 1, x - 1)

    run = torch.compile(select, backend="eager", fullgraph=True)
    for x in (torch.ones(2), -torch.ones(2)):
        torch.testing.assert_close(run(x), branch(x))


def test_a_wrong_mode_is_refused():
    with raises_as_documented(PAGE, "RuntimeError: Unrecognized mode"):
        torch.compile(nn.Linear(2, 2), mode="fast")


def test_in_place_keeps_the_names():
    model = nn.Linear(2, 2)
    model.compile(backend="eager")
    assert list(model.state_dict()) == ["weight", "bias"]


def test_in_place_it_compiles_bare_layers_since_2_14(counter):
    for model in (nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 4), nn.ReLU())):
        model.compile(backend=counter)
        model(torch.ones(2, 4))
        assert next(iter(model.state_dict())) in ("weight", "0.weight")
    assert counter.frame_count == (2 if torch.__version__ >= "2.14" else 0)


def test_torch_compile_compiles_bare_layers_in_every_version(counter):
    for model in (nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 4), nn.ReLU())):
        torch.compile(model, backend=counter)(torch.ones(2, 4))
    assert counter.frame_count == 2
