"""threads-inference: what belongs to a thread, and what all threads share."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers import ROOT, raises_as_documented, recipes, run_python

PAGE = "deployment/threads-inference"


def predict_in_threads(model, inputs, workers=2):
    """Run the answer on a model and on inputs of one's own."""
    answer = recipes()["threads-inference"].answer.text
    assert "ThreadPoolExecutor(2)" in answer
    names = {"model": model, "inputs": inputs}
    exec(
        answer.replace("ThreadPoolExecutor(2)", f"ThreadPoolExecutor({workers})"), names
    )
    return names["outputs"]


class Note(nn.Module):
    """Keep the thread and its mode for each call."""

    def __init__(self):
        super().__init__()
        self.linear, self.seen = nn.Linear(2, 1), []
        self.meet = threading.Barrier(2, timeout=30)

    def forward(self, x):
        self.meet.wait()  # two at once, or BrokenBarrierError
        mode = (torch.is_inference_mode_enabled(), self.training)
        self.seen.append((threading.get_ident(), mode))
        return self.linear(x)


class Remember(nn.Module):
    """A forward pass that writes to self, and waits for the other thread."""

    def __init__(self):
        super().__init__()
        self.meet = threading.Barrier(2, timeout=30)

    def forward(self, x):
        self.x = x
        self.meet.wait()
        return self.x


def test_outputs_in_order():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 3), nn.Dropout(0.5)).double()
    inputs = list(torch.randn(20, 5, 4, dtype=torch.float64))
    outputs = predict_in_threads(model, inputs, workers=3)
    w, b = (p.detach().numpy() for p in model[0].parameters())
    for x, y in zip(inputs, outputs, strict=True):
        assert not y.requires_grad
        np.testing.assert_allclose(y.numpy(), x.numpy() @ w.T + b, rtol=1e-9)
    assert predict_in_threads(model, []) == []


def test_two_at_once_in_inference_mode():
    model = Note()
    predict_in_threads(model, list(torch.randn(2, 1, 2)))
    threads, modes = zip(*model.seen, strict=True)
    assert len({*threads, threading.get_ident()}) == 3
    assert modes == ((True, False),) * 2
    assert not torch.is_inference_mode_enabled()


def test_as_many_threads_as_workers():
    model = Note()
    model.meet = threading.Barrier(4, timeout=30)
    predict_in_threads(model, list(torch.randn(4, 1, 2)), workers=4)
    assert len({thread for thread, _ in model.seen}) == 4


def test_a_thread_of_the_reader_calls_predict():
    model = nn.Sequential(nn.Linear(2, 1), nn.Dropout())
    names = {"model": model, "inputs": []}
    exec(recipes()["threads-inference"].answer.text, names)
    answers = []
    x = torch.randn(3, 2)
    thread = threading.Thread(target=lambda: answers.append(names["predict"](x)))
    thread.start()
    thread.join()
    assert not answers[0].requires_grad
    torch.testing.assert_close(answers[0], x @ model[0].weight.T + model[0].bias)


def test_errors_arrive():
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        predict_in_threads(nn.Linear(2, 1), [torch.ones(1, 3)])


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_the_mode_of_another_thread_does_not_count(mode):
    model = nn.Linear(2, 1)
    with mode(), ThreadPoolExecutor(1) as pool:
        assert pool.submit(torch.is_grad_enabled).result()
    with torch.no_grad(), ThreadPoolExecutor(1) as pool:
        output = pool.submit(model, torch.ones(1, 2)).result()
    with raises_as_documented(PAGE, "RuntimeError: Can't call numpy()"):
        output.numpy()


def test_autocast_of_another_thread_does_not_count():
    with torch.autocast("cpu", torch.bfloat16), ThreadPoolExecutor(1) as pool:
        assert pool.submit(nn.Linear(2, 1), torch.ones(1, 2)).result().dtype == (
            torch.float32
        )


def test_a_mode_for_a_whole_pool():
    settings = {"initializer": torch.set_grad_enabled, "initargs": (False,)}
    with ThreadPoolExecutor(1, **settings) as pool:
        assert not pool.submit(torch.is_grad_enabled).result()
    assert torch.is_grad_enabled()


def test_what_self_keeps_is_mixed_up():
    first, second = predict_in_threads(Remember(), list(torch.eye(2)))
    assert torch.equal(first, second)


def test_the_number_is_taken_when_a_thread_starts(tmp_path):
    """In a process of its own: the number stays set."""
    (tmp_path / "run.py").write_text("""
import torch
from concurrent.futures import ThreadPoolExecutor
torch.set_num_threads(3)
with ThreadPoolExecutor(1) as pool:
    print(pool.submit(torch.get_num_threads).result())
    torch.set_num_threads(1)
    print(pool.submit(torch.get_num_threads).result())
with ThreadPoolExecutor(1) as pool:
    print(pool.submit(torch.get_num_threads).result())
""")
    run = run_python("run.py", folder=tmp_path)
    assert run.stdout.split() == ["3", "3", "1"]


def test_asyncio():
    """The variant: the event loop goes on while the model computes."""
    started, go = threading.Event(), threading.Event()

    def predict(x):
        started.set()
        assert go.wait(30)
        with torch.inference_mode():
            return nn.Linear(2, 1)(x)

    async def serve():
        answer = asyncio.create_task(asyncio.to_thread(predict, torch.ones(1, 2)))
        while not started.is_set():
            await asyncio.sleep(0.001)
        go.set()  # this line is reached, although predict has not returned
        return await answer

    with ThreadPoolExecutor(1) as pool:  # a browser test may have a loop in this one
        answer = pool.submit(lambda: asyncio.run(serve())).result()
    assert answer.is_inference()


def test_the_demonstration(tmp_path):
    script = ROOT / "snippets/deployment/threads_inference.py"
    run = run_python(script, folder=tmp_path)
    assert run.stdout == "under no_grad, a new thread records gradients: True\n"
