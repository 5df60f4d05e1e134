"""optimizer-state-device: where the state goes, and a resumed run bit by bit."""

import copy
import io

import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "training/optimizer-state-device"


ANSWER = recipes()["optimizer-state-device"].answer


def make(device="cpu", dtype=None, optimizer=torch.optim.AdamW, **settings):
    torch.manual_seed(0)
    model = nn.Linear(3, 2, device=device, dtype=dtype)
    return model, optimizer(model.parameters(), **settings)


def steps(model, optimizer, n, start=0):
    for i in range(start, start + n):
        optimizer.zero_grad()
        x = torch.full((4, 3), 1.0 + i, dtype=model.weight.dtype)
        model(x).square().sum().backward()
        optimizer.step()


@pytest.fixture
def state():
    model, optimizer = make()
    steps(model, optimizer, 3)
    return copy.deepcopy(optimizer.state_dict())


def test_the_snippet_keeps_the_moments():
    snippet = load_snippet("training/optimizer_state_device.py")
    average = snippet.optimizer.state[snippet.model.weight]["exp_avg"]
    gradient = 4.0  # of each weight: four rows of ones; a tenth of it is exp_avg
    expected = torch.full((2, 3), 0.1 * gradient)
    torch.testing.assert_close(average.cpu(), expected, rtol=1e-2, atol=0)
    assert snippet.optimizer.param_groups[0]["lr"] == 1e-3


def test_the_answer_keeps_the_parameters_and_moves_the_state():
    """To another dtype: `meta` gets new parameters, which a GPU does not."""
    model, optimizer = make()
    steps(model, optimizer, 1)
    before = [*map(id, model.parameters())]
    names = {"model": model, "optimizer": optimizer, "device": torch.bfloat16}
    exec(ANSWER.text, names)
    (group,) = optimizer.param_groups
    assert [*map(id, group["params"])] == [*map(id, model.parameters())] == before
    for p in model.parameters():
        assert p.dtype == optimizer.state[p]["exp_avg"].dtype == torch.bfloat16
    steps(model, optimizer, 1)


def test_a_resumed_run_ends_with_the_same_bits():
    whole = make()
    steps(*whole, 6)
    first = make()
    steps(*first, 3)
    file = io.BytesIO()
    torch.save([part.state_dict() for part in first], file)
    file.seek(0)
    states = torch.load(file, map_location="cpu", weights_only=True)
    for with_optimizer in (True, False):
        model, optimizer = make(lr=9.0 if with_optimizer else 1e-3)
        model.load_state_dict(states[0])
        if with_optimizer:
            optimizer.load_state_dict(states[1])
        steps(model, optimizer, 3, start=3)
        same = torch.equal(model.weight, whole[0].weight)
        assert same == with_optimizer


def test_the_state_goes_to_device_and_dtype_of_the_parameters(state):
    model, optimizer = make("meta")  # as another device
    optimizer.load_state_dict(state)
    assert optimizer.state[model.weight]["exp_avg"].device.type == "meta"
    assert optimizer.state[model.weight]["step"].device.type == "cpu"
    model, optimizer = make(dtype=torch.bfloat16)
    optimizer.load_state_dict(state)
    assert optimizer.state[model.weight]["exp_avg"].dtype == torch.bfloat16
    assert optimizer.state[model.weight]["step"].dtype == torch.float32
    steps(model, optimizer, 1)


def test_a_model_that_was_converted_later(state):
    model, optimizer = make()
    optimizer.load_state_dict(state)
    model.to(torch.bfloat16)
    with pytest.raises(RuntimeError, match="dtype"):
        steps(model, optimizer, 1)
    optimizer.load_state_dict(optimizer.state_dict())
    assert optimizer.state[model.weight]["exp_avg"].dtype == torch.bfloat16
    steps(model, optimizer, 1)


def test_three_times_as_large():
    model = nn.Linear(500, 500)
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.ones(1, 500)).sum().backward()
    optimizer.step()
    sizes = []
    for saved in (
        [model.state_dict()],
        [model.state_dict(), optimizer.state_dict()],
    ):
        file = io.BytesIO()
        torch.save(saved, file)
        sizes.append(file.tell())
    assert sizes[1] / sizes[0] == pytest.approx(3, rel=0.02)


def test_the_settings_of_the_file_replace_those_passed(state):
    _, optimizer = make(lr=5.0, weight_decay=0.5, betas=(0.5, 0.5))
    optimizer.load_state_dict(state)
    (group,) = optimizer.param_groups
    assert (group["lr"], group["betas"]) == (1e-3, (0.9, 0.999))
    assert group["weight_decay"] == 0.01


def test_messages(state):
    model, optimizer = make()
    with raises_as_documented(PAGE, "AttributeError: 'AdamW'"):
        optimizer.to("cpu")
    optimizer.load_state_dict(make(optimizer=torch.optim.SGD)[1].state_dict())
    with raises_as_documented(PAGE, "KeyError: 'betas'"):
        steps(model, optimizer, 1)
    model, optimizer = make(dtype=torch.float16, foreach=True)  # as on a GPU
    steps(model, optimizer, 1)
    model.float()
    with raises_as_documented(PAGE, "RuntimeError: Tensors of the same index"):
        steps(model, optimizer, 1)
    with raises_as_documented(PAGE, "KeyError: 'param_groups'"):
        make()[1].load_state_dict({"model": {}, "optimizer": state})
