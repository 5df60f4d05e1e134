"""accelerate-loop: two real processes against a plain loop over whole batches."""

import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch
from accelerate import Accelerator
from accelerate.scheduler import AcceleratedScheduler
from accelerate.state import AcceleratorState
from accelerate.utils import DistributedType
from torch import nn

from tests.helpers import (
    assert_documented,
    in_two_processes,
    load_snippet,
    raises_as_documented,
)

SNIPPET = "distributed/accelerate_loop.py"
PAGE = "distributed/accelerate-loop"
DRIVER = """
import os, runpy, sys
from torch.utils.data import DataLoader, Subset

main = runpy.run_path(sys.argv[1])["main"]
names = main.__globals__
parts = range(800), range(800, 1010)
halves = lambda data, sizes: [Subset(data, part) for part in parts]
names["torch"].utils.data.random_split = halves
names["DataLoader"] = lambda data, shuffle=0, **n: DataLoader(data, **n)
os.environ["ACCELERATE_USE_CPU"] = "true"

def work(rank):
    main(epochs=2)
"""


def plain_loop(epochs: int) -> tuple[nn.Module, list[float]]:
    """The same training by one process, both processes' batches at once."""
    torch.manual_seed(0)
    x = torch.randn(1010, 2)
    y = (x.norm(dim=1) > 1.2).long()
    model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
    # 25 batches of 32 are no even number: the second process repeats the first.
    order = [*range(800), *range(32)]
    shares = []
    for _ in range(epochs):
        for start in range(0, len(order), 64):
            chosen = order[start : start + 64]
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x[chosen]), y[chosen]).backward()
            optimizer.step()
        with torch.no_grad():
            found = model(x[800:]).argmax(1).tolist()
        right = sum(a == b for a, b in zip(found, y[800:].tolist(), strict=True))
        shares.append(right / 210)
    return model, shares


def test_two_processes_take_the_steps_of_one_with_twice_the_batch(tmp_path):
    path = str(load_snippet(SNIPPET).__file__)
    printed = in_two_processes(tmp_path, DRIVER, path)
    model, shares = plain_loop(2)
    lines = [f"epoch {n}: {share:.1%} right" for n, share in enumerate(shares)]
    assert re.findall("epoch .*", printed) == lines  # once, of 210 samples
    saved = torch.load(tmp_path / "model.pt", weights_only=True)
    torch.testing.assert_close(saved, dict(model.state_dict()))


@pytest.fixture
def fresh(own_process):
    """No Accelerator that an earlier test has made."""
    AcceleratorState._reset_state(reset_partial_state=True)


def test_the_accelerator_keeps_its_first_settings(fresh):
    Accelerator(cpu=True)
    with raises_as_documented(PAGE, "ValueError: AcceleratorState has already"):
        Accelerator(cpu=True, mixed_precision="bf16")


def test_a_model_that_lies_on_several_gpus(fresh, monkeypatch):
    model = nn.Linear(2, 1)
    model.hf_device_map = {"first": 0, "second": 1}  # as by device_map="auto"
    accelerator = Accelerator(cpu=True)
    accelerator.prepare(model)  # one process: the GPUs take turns
    several = DistributedType.MULTI_GPU
    monkeypatch.setattr(Accelerator, "distributed_type", several)
    with raises_as_documented(PAGE, "ValueError: You can't train a model"):
        accelerator.prepare(model)


@pytest.mark.parametrize("processes", [1, 2])
def test_a_scheduler_steps_once_for_each_process(fresh, monkeypatch, processes):
    accelerator = Accelerator(cpu=True)
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    model, optimizer, scheduler = accelerator.prepare(model, optimizer, scheduler)
    assert type(scheduler) is AcceleratedScheduler
    state = SimpleNamespace(num_processes=processes)
    monkeypatch.setattr("accelerate.scheduler.AcceleratorState", lambda: state)
    accelerator.backward(model(torch.ones(4, 2)).sum())
    optimizer.step()
    scheduler.step()
    assert optimizer.param_groups[0]["lr"] == 0.5**processes


def test_the_variants(fresh, tmp_path):
    accelerator = Accelerator(
        cpu=True, mixed_precision="bf16", gradient_accumulation_steps=2
    )
    model, x = nn.Linear(2, 1, bias=False), torch.ones(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    before = model.weight.detach().clone()
    model, optimizer = accelerator.prepare(model, optimizer)
    for step in range(2):
        with accelerator.accumulate(model):
            accelerator.backward(100 * model(x).sum())
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        moved = (model.weight - before).norm().item()
        assert moved == pytest.approx(step, rel=1e-4)  # the norm, at the second
    accelerator.save_state(tmp_path / "checkpoint")
    saved = model.weight.detach().clone()
    with torch.no_grad():
        model.weight.zero_()
    accelerator.load_state(tmp_path / "checkpoint")
    torch.testing.assert_close(model.weight.detach(), saved)


def test_the_launcher_reports_the_exit_status_of_the_script(tmp_path):
    (tmp_path / "train.py").write_text("raise SystemExit(1)\n")
    launch = ["-m", "accelerate.commands.accelerate_cli", "launch", "--cpu"]
    done = subprocess.run(
        [sys.executable, *launch, "--num_processes=1", "train.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stderr.strip().splitlines()[-1]
    assert_documented(PAGE, "subprocess.CalledProcessError: Command", said)
    assert said.endswith("returned non-zero exit status 1.")


def test_weights_that_nothing_has_gathered():
    embedding = nn.Embedding(4, 2)
    embedding.weight.data = torch.empty(0)  # as ZeRO-3 leaves it
    with raises_as_documented(PAGE, "RuntimeError: 'weight' must be 2-D"):
        embedding(torch.tensor([1]))
