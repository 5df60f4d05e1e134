"""random-generators: streams, states and forks by hand; frequencies; bad input."""

import sys
import warnings

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.chains.pasted import answer
from tests.helpers import TORCH_CPU, lacking, load_snippet, quoted, raises_as_documented

PAGE = "tensors/random-generators"
snippet = load_snippet("tensors/random_generators.py")
weights = torch.tensor([0.1, 0.2, 0.7])


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def test_the_draws_are_those_of_the_seed_in_this_order():
    g = seeded()
    assert torch.equal(snippet.x, torch.randn(2, 3, generator=g))
    assert torch.equal(snippet.order, torch.randperm(5, generator=g))
    assert sorted(snippet.order.tolist()) == [0, 1, 2, 3, 4]
    picks = torch.multinomial(weights, 9, True, generator=g)
    assert torch.equal(snippet.picks, picks)
    assert torch.equal(snippet.state, g.get_state())
    assert torch.equal(snippet.noise, torch.rand(3, generator=g))
    assert torch.equal(snippet.generator.get_state(), g.get_state())
    assert snippet.noise.shape == (3,)


def test_the_answer_leaves_the_global_generator_alone():
    before = torch.get_rng_state()
    names = {"weights": torch.tensor([0.0, 3.0]).half()}
    exec(answer("random-generators"), names)
    assert torch.equal(before, torch.get_rng_state())
    assert names["picks"].tolist() == [1] * 9
    first = names["x"]
    exec(answer("random-generators"), names)  # run twice: the same numbers
    assert torch.equal(first, names["x"])


def test_the_fork_is_seeded():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        assert torch.equal(snippet.y, F.dropout(snippet.x))


def test_the_global_generator_is_not_moved():
    before = torch.get_rng_state()
    torch.rand(3, generator=seeded())
    assert torch.equal(before, torch.get_rng_state())
    with torch.random.fork_rng():
        torch.manual_seed(1)
        nn.Linear(3, 3)
        assert not torch.equal(before, torch.get_rng_state())
    assert torch.equal(before, torch.get_rng_state())
    torch.rand(3)
    assert not torch.equal(before, torch.get_rng_state())
    torch.set_rng_state(before)


def test_picks_follow_the_weights():
    picks = torch.multinomial(weights, 20_000, replacement=True, generator=seeded())
    share = torch.bincount(picks) / len(picks)
    torch.testing.assert_close(share, weights, atol=0.02, rtol=0)


def test_the_default_seed_is_always_the_same():
    one, other = torch.Generator(), torch.Generator()
    assert one.initial_seed() == other.initial_seed() == 67280421310721
    draws = [torch.rand(3, generator=g) for g in (one, other)]
    assert torch.equal(*draws)
    logged = one.seed()
    assert logged == one.initial_seed() != other.initial_seed()
    epochs = [torch.rand(3, generator=one) for _ in range(2)]
    assert not torch.equal(*epochs)
    one.manual_seed(logged)
    again = torch.rand(3, generator=seeded(logged))
    assert torch.equal(again, torch.rand(3, generator=one))


def test_a_shape_changes_the_numbers():
    eight = torch.randn(8, generator=seeded())
    sixteen = torch.randn(16, generator=seeded())
    assert not torch.equal(eight, sixteen[:8])


def test_the_state_must_be_bytes_on_the_cpu():
    moved = torch.get_rng_state().to("meta")  # as of another device
    with raises_as_documented(PAGE, "TypeError: RNG state"):
        torch.Generator().set_state(moved)
    with raises_as_documented(PAGE, "TypeError: RNG state"):
        torch.set_rng_state(moved)
    torch.set_rng_state(torch.get_rng_state().cpu())


@pytest.mark.skipif(sys.platform != "linux", reason="reads a Linux library")
def test_the_binary_holds_the_message_of_the_device():
    """Raising it takes a GPU."""
    text = "' device type for generator but found '"
    assert not lacking(TORCH_CPU, text)
    assert text in quoted(PAGE, "RuntimeError: Expected a 'cuda' device type")


def test_what_is_refused():
    with raises_as_documented(PAGE, "TypeError: dropout() got"):
        F.dropout(snippet.x, generator=seeded())
    with raises_as_documented(PAGE, "RuntimeError: cannot sample"):
        torch.multinomial(weights, 4)
    with raises_as_documented(PAGE, "RuntimeError: probability tensor"):
        torch.multinomial(weights.log(), 1)
    assert torch.multinomial(weights.log().softmax(-1), 1).shape == (1,)
    few = torch.tensor([0.0, 1, 0])  # one that can be drawn
    assert set(torch.multinomial(few, 9, replacement=True).tolist()) == {1}
    assert len(set(torch.multinomial(few, 2).tolist()) - {1}) == 1
    with raises_as_documented(PAGE, "RuntimeError: multinomial only"):
        torch.multinomial(torch.tensor([1, 2]), 1)
    with pytest.raises(TypeError, match="generator"):
        nn.Linear(3, 3, generator=seeded())


def test_the_warning_of_several_gpus(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_rng_state", lambda device: device)
    monkeypatch.setattr(torch.cuda, "set_rng_state", lambda state, device: None)
    cuda = {"device_type": "cuda"}
    monkeypatch.setattr(torch.random, "_fork_rng_warned_already", False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for devices in [0], []:
            with torch.random.fork_rng(devices=devices, **cuda):
                pass
        with (
            raises_as_documented(PAGE, "UserWarning: CUDA reports"),
            torch.random.fork_rng(**cuda),
        ):
            pass


def test_variants():
    x, y = torch.arange(5), torch.arange(5) * 10
    assert torch.equal(x[snippet.order] * 10, y[snippet.order])
    chosen = torch.randperm(9, generator=seeded())[:4]
    assert len(set(chosen.tolist())) == 4
    expected = torch.rand(3, generator=seeded())
    assert torch.equal(torch.empty(3).uniform_(generator=seeded()), expected)
    assert torch.equal(nn.init.uniform_(torch.empty(3), generator=seeded()), expected)
    normal = torch.empty(3).normal_(generator=seeded())
    assert torch.equal(normal, torch.randn(3, generator=seeded()))
    g = seeded()
    copy = g.clone_state()
    torch.rand(3, generator=g)
    assert torch.equal(torch.rand(3, generator=copy), expected)
