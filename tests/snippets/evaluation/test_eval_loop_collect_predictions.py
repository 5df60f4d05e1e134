"""eval-loop-collect-predictions: rows, modes, memory and open files, for real."""

import runpy
import subprocess
import sys
import weakref

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from tests.helpers import ROOT, load_snippet, raises_as_documented

SNIPPET = "evaluation/eval_loop_collect_predictions.py"
predict = load_snippet(SNIPPET).predict
PAGE = "evaluation/eval-loop-collect-predictions"
CPU = torch.device("cpu")

MANY_BATCHES = """
import resource, runpy, sys, torch
from torch.utils.data import DataLoader, TensorDataset
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
data = TensorDataset(torch.arange(400.0).view(200, 2), torch.arange(200))
loader = DataLoader(data, 2, num_workers=1)
predict = runpy.run_path(sys.argv[1])["predict"]
logits, target = predict(torch.nn.ReLU(), loader, torch.device("cpu"))
assert torch.equal(logits, data.tensors[0])
assert torch.equal(target, data.tensors[1])
print("collected")
kept = [target for _, target in loader]
"""


QUEUE = """
import resource, time, torch
from torch import multiprocessing as mp

def send(queue):
    for _ in range(99):
        queue.put(torch.ones(1))
    time.sleep(60)  # until it is killed; its files are needed here

context = mp.get_context("fork")
queue = context.Queue()
sender = context.Process(target=send, args=(queue,), daemon=True)
sender.start()
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
kept = [queue.get() for _ in range(99)]
"""


@pytest.fixture
def data():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(10, 4, generator=generator)
    return TensorDataset(x, torch.arange(10))


def test_rows_stand_in_the_order_of_the_set(data):
    model = nn.Linear(4, 3)
    logits, target = predict(model, DataLoader(data, 4), CPU)  # 4, 4 and 2
    expected = data.tensors[0].double() @ model.weight.double().T + model.bias
    torch.testing.assert_close(logits.double(), expected, rtol=1e-5, atol=1e-6)
    assert torch.equal(target, torch.arange(10))


def test_shuffled_rows_stay_beside_their_targets(data):
    torch.manual_seed(1)
    loader = DataLoader(data, 4, shuffle=True)
    logits, target = predict(nn.Identity(), loader, CPU)
    assert target.tolist() != list(range(10))
    assert torch.equal(logits, data.tensors[0][target])


def test_drop_last_loses_samples(data):
    loader = DataLoader(data, 4, drop_last=True)
    assert len(predict(nn.Identity(), loader, CPU)[0]) == 8


def test_modes_during_and_after(data):
    model, seen = nn.Sequential(nn.Linear(4, 4), nn.Dropout()), []
    model.register_forward_hook(
        lambda module, *_: seen.append(
            (module[1].training, torch.is_inference_mode_enabled())
        )
    )
    first, _ = predict(model.train(), DataLoader(data, 4), CPU)
    second, _ = predict(model.train(), DataLoader(data, 4), CPU)
    assert torch.equal(first, second)
    assert seen == [(False, True)] * 6
    assert not model.training
    assert not torch.is_inference_mode_enabled()


def test_batches_go_to_the_device_and_come_back_once(data, monkeypatch):
    """Where the copies are noted: on the CPU they are the tensors themselves."""
    to, cpu, calls = torch.Tensor.to, torch.Tensor.cpu, []

    def spy_to(self, *args):
        calls.append((len(self), *args))
        return to(self, *args)

    def spy_cpu(self):
        calls.append((len(self), "back"))
        return cpu(self)

    monkeypatch.setattr(torch.Tensor, "to", spy_to)
    monkeypatch.setattr(torch.Tensor, "cpu", spy_cpu)
    predict(nn.Identity(), DataLoader(data, 4), CPU)
    back = [(10, "back")] * 2  # the targets, too: a loader may hold them on the GPU
    assert calls == [(4, CPU), (4, CPU), (2, CPU), *back]


def test_a_model_elsewhere_gets_the_batches_there(data):
    """On meta no value can be read: only the way back to the CPU fails."""
    model, seen = nn.Linear(4, 3, device="meta"), []
    model.register_forward_hook(lambda *_: seen.append(_[2].device.type))
    with pytest.raises(NotImplementedError, match="meta tensor"):
        predict(model, DataLoader(data, 4), torch.device("meta"))
    assert seen == ["meta"] * 3


def test_the_demonstration(capsys):
    runpy.run_path(str(ROOT / "snippets" / SNIPPET), run_name="__main__")
    torch.manual_seed(0)
    x = torch.randn(10, 8)
    pred = nn.Linear(8, 3)(x).argmax(1)
    wrong = [i for i in range(10) if pred[i] != i % 3]
    assert capsys.readouterr().out == f"(10, 3) wrong samples: {wrong}\n"


def test_the_inputs_of_a_batch_are_let_go(data):
    model, alive, most = nn.Linear(4, 3), weakref.WeakSet(), []
    to = torch.Tensor.to

    class Loader:
        def __iter__(self):
            for x, y in DataLoader(data, 2):
                x = to(x, torch.float32, copy=True)
                alive.add(x)
                most.append(len(alive))
                yield x, y

    predict(model, Loader(), CPU)
    assert max(most) <= 2  # this batch, and the last one until it is replaced


def test_without_no_grad_every_batch_keeps_its_activations(data):
    class Saved:
        def __init__(self, tensor):
            self.tensor = tensor

    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    saved, outputs, counts = weakref.WeakSet(), [], []

    def pack(tensor):
        holder = Saved(tensor.detach())  # else it would hold its own node
        saved.add(holder)
        return holder

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda holder: holder.tensor):
        for x, _ in DataLoader(data, 4):
            outputs.append(model(x))
            counts.append(len(saved))
        assert 0 < counts[0] < counts[1] < counts[2]
        outputs.clear()
        assert not saved
        predict(model, DataLoader(data, 4), CPU)
        assert not saved


@pytest.mark.parametrize("shape", [(), (5, 3)], ids=str)
def test_any_shape_of_target(shape):
    target = torch.randint(9, (7, *shape))
    data = TensorDataset(torch.randn(7, 2), target)
    assert torch.equal(predict(nn.Identity(), DataLoader(data, 3), CPU)[1], target)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems share by name")
def test_many_batches_from_workers():
    """100 batches with at most 64 open files: the snippet, then without clone."""
    result = subprocess.run(
        [sys.executable, "-c", MANY_BATCHES, str(ROOT / "snippets" / SNIPPET)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.stdout == "collected\n", result.stderr
    message = result.stderr.strip().splitlines()[-1]
    with raises_as_documented(PAGE, "RuntimeError: Too many open"):
        raise RuntimeError(message.removeprefix("RuntimeError: "))


@pytest.mark.skipif(sys.platform != "linux", reason="other systems share by name")
def test_many_tensors_from_a_queue():
    result = subprocess.run(
        [sys.executable, "-c", QUEUE],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    message = result.stderr.strip().splitlines()[-1]
    with raises_as_documented(PAGE, "RuntimeError: received 0 items"):
        raise RuntimeError(message.removeprefix("RuntimeError: "))
    assert "ancdata" in message


def test_outputs_that_cannot_be_joined(data):
    class Squeezed(nn.Linear):
        def forward(self, x):
            return super().forward(x).squeeze()

    with raises_as_documented(PAGE, "RuntimeError: zero-dimensional"):
        nine = TensorDataset(*data[:9])
        predict(Squeezed(4, 1), DataLoader(nine, 4), CPU)  # 4, 4 and 1
    rows = [torch.randn(n, 3) for n in (5, 4, 7)]
    padded = [nn.utils.rnn.pad_sequence(rows[a:b], True) for a, b in ((0, 2), (2, 3))]
    with raises_as_documented(PAGE, "RuntimeError: Sizes of tensors"):
        predict(nn.Identity(), [(x, x) for x in padded], CPU)
    logits = []
    for x in padded:  # the fix of the page
        logits.extend(nn.Identity()(x.to(CPU)).cpu())
    assert [len(row) for row in logits] == [5, 5, 7]
    assert torch.equal(logits[1][:4], rows[1])


def test_without_labels(data):
    x = data.tensors[0]
    wrapped = [x for (x,) in DataLoader(TensorDataset(x), 4)]
    plain = list(DataLoader(x, 4))  # or of a Dataset that returns x
    assert torch.equal(torch.cat(wrapped), x)
    assert torch.equal(torch.cat(plain), x)


def test_the_documented_errors(data):
    logits, _ = predict(nn.Identity(), DataLoader(data, 4), CPU)
    with raises_as_documented(PAGE, "ValueError: torch.cat(): expected a"):
        predict(nn.Identity(), [], CPU)
    with raises_as_documented(PAGE, "RuntimeError: stack expects each"):
        torch.stack([x for x, _ in DataLoader(data, 4)])
    temperature = torch.ones((), requires_grad=True)
    with raises_as_documented(PAGE, "RuntimeError: Inference tensors cannot"):
        F.cross_entropy(logits / temperature, torch.zeros(10).long())
    with raises_as_documented(PAGE, "RuntimeError: Inplace update to"):
        logits.mul_(2)
    # The fix the page gives.
    loss = F.cross_entropy(logits.clone() / temperature, torch.zeros(10).long())
    loss.backward()
    assert temperature.grad is not None
