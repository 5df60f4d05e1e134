"""set-all-seeds: two processes agree; each generator matches a fresh one."""

import random
import re
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset

from tests.helpers import ROOT, load_snippet, raises_as_documented

SNIPPET = "reproducibility/set_all_seeds.py"
PAGE = "reproducibility/set-all-seeds"
seeds = load_snippet(SNIPPET)


def test_two_processes_train_the_same_weights():
    code = "; ".join(
        [
            "import runpy",
            f"run = runpy.run_path({str(ROOT / 'snippets' / SNIPPET)!r})",
            "print(run['train'](3).double().sum().item().hex())",
        ]
    )
    command = [sys.executable, "-c", code]
    runs = [subprocess.check_output(command, text=True) for _ in range(2)]
    assert runs[0] == runs[1]
    assert runs[0].strip() == seeds.train(3).double().sum().item().hex()


def test_generators_match_fresh_ones_of_the_same_seed():
    generator = seeds.set_all_seeds(42)
    assert random.random() == random.Random(42).random()
    assert np.random.rand() == np.random.RandomState(42).rand()
    expected = torch.rand(3, generator=torch.Generator().manual_seed(42))
    assert torch.equal(torch.rand(3), expected)
    assert torch.equal(torch.rand(3, generator=generator), expected)


def test_only_repeatable_kernels_remain():
    torch.backends.cudnn.benchmark = True
    seeds.set_all_seeds(0)
    assert not torch.backends.cudnn.benchmark
    with raises_as_documented(PAGE):
        torch.zeros(3).put_(torch.tensor([0]), torch.ones(1))


def test_workspace_is_set_but_not_overridden(monkeypatch):
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    seeds.set_all_seeds(0)
    assert seeds.os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":16:8")
    seeds.set_all_seeds(0)
    assert seeds.os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":16:8"


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_bad_seed_changes_nothing(seed):
    before = random.getstate(), torch.get_rng_state()
    with pytest.raises(ValueError, match="between 0 and 2"):
        seeds.set_all_seeds(seed)
    assert random.getstate() == before[0]
    assert torch.equal(torch.get_rng_state(), before[1])


class Noise(Dataset):
    """Draws from the worker's global NumPy generator, and from its own."""

    def __init__(self):
        self.own = np.random.default_rng(0)

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return np.random.rand(), self.own.random()


def epoch(seed: int) -> list[list[float]]:
    generator = seeds.set_all_seeds(seed)
    loader = DataLoader(Noise(), num_workers=2, generator=generator)
    return [torch.cat(column).tolist() for column in zip(*loader, strict=True)]


def test_workers_are_seeded_apart_and_repeatably():
    worker_global, own = epoch(0)
    assert len(set(worker_global)) == 4
    assert epoch(0)[0] == worker_global
    # The pitfall: a generator made in __init__ repeats in every worker.
    assert own[0] == own[1]


class OwnNoise(Noise):
    def __getitem__(self, index):
        return self.rng.random()


def execute(line: str, worker_id: int) -> None:
    exec(line, {"torch": torch, "np": np})


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_worker_init_fn_of_the_page(lang):
    page = (ROOT / f"docs/{lang}/{PAGE}.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"`(torch\.utils\.data\.get_worker_info[^`]*)`", page)
    line = " ".join(shown.split())

    def epochs(seed):
        loader = DataLoader(
            OwnNoise(),
            num_workers=2,
            worker_init_fn=partial(execute, line),
            generator=seeds.set_all_seeds(seed),
        )
        return [torch.cat(list(loader)).tolist() for _ in range(2)]

    first, second = epochs(0)
    assert len({*first, *second}) == 8  # per worker, sample and epoch
    assert epochs(0) == [first, second]
    assert epochs(1)[0] != first


def test_the_order_of_a_set_is_that_of_the_hash_seed():
    names = ["cat", "dog", "owl", "fox", "bee", "ant", "cow", "hen", "pig", "rat"]
    shown = []
    for seed in ("0", "0", "1", "2"):
        code = f"print(list(set({names})), sorted(set({names})) == sorted({names}))"
        shown.append(
            subprocess.check_output(
                [sys.executable, "-S", "-c", code], env={"PYTHONHASHSEED": seed}
            )
        )
    assert shown[0] == shown[1]
    assert len(set(shown)) == 3
    assert all(line.strip().endswith(b"True") for line in shown)
