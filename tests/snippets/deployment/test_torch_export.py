"""torch-export: the file against NumPy, and what cannot be exported."""

import numpy as np
import pytest
import torch
from torch import nn
from torch._dynamo.exc import UserError
from torch.export import Dim
from torch.export.passes import move_to_device_pass

from tests.helpers import load_snippet, raises_as_documented

PAGE = "deployment/torch-export"
BATCH = ({0: Dim("batch")},)

pytestmark = pytest.mark.filterwarnings("ignore:The given buffer is not writable")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


class Apply(nn.Module):
    """A model of one input that does what a function does."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def export(function, *inputs, dynamic_shapes=BATCH):
    model = function if isinstance(function, nn.Module) else Apply(function)
    return torch.export.export(model, inputs, dynamic_shapes=dynamic_shapes)


def test_the_file_computes_what_numpy_computes():
    snippet = load_snippet("deployment/torch_export.py")
    w1, b1, w2, b2 = (p.detach().numpy() for p in snippet.model.parameters())
    assert (w1.shape, w2.shape) == ((16, 8), (3, 16))
    assert not snippet.model.training
    assert snippet.x.shape == (7, 8)
    loaded = torch.export.load("model.pt2").module()
    for n in (1, 2, 33):
        x = np.random.default_rng(n).normal(size=(n, 8)).astype(np.float32)
        expected = np.maximum(x @ w1.T + b1, 0) @ w2.T + b2
        found = loaded(torch.from_numpy(x)).detach()
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    assert list(loaded.state_dict()) == list(snippet.model.state_dict())


def test_the_class_is_not_needed(monkeypatch):
    model = Apply(torch.relu)
    torch.export.save(export(model, torch.ones(2, 3)), "model.pt2")

    def gone(*_):
        raise AssertionError("the class was used")

    monkeypatch.setattr(Apply, "__init__", gone)
    monkeypatch.setattr(Apply, "forward", gone)
    loaded = torch.export.load("model.pt2").module()
    assert torch.equal(loaded(-torch.ones(4, 3)), torch.zeros(4, 3))


def test_every_other_size_is_fixed():
    model = nn.Linear(3, 3)
    fixed = export(model, torch.ones(2, 3), dynamic_shapes=None).module()
    with raises_as_documented(PAGE, "AssertionError: Guard failed: input.size()[0]"):
        fixed(torch.ones(5, 3))
    program = export(model, torch.ones(2, 3))
    with pytest.raises(AssertionError, match=r"Guard failed: input.size\(\)\[1\] == 3"):
        program.module()(torch.ones(2, 4))
    with raises_as_documented(PAGE, "RuntimeError: Unable to call ExportedProgram"):
        program(torch.ones(2, 3))


@pytest.mark.parametrize(
    ("function", "example", "told"),
    [
        (torch.relu, torch.ones(1, 3), "specialized it to be a constant (1)"),
        (
            lambda x: x + torch.ones(2, 1),
            torch.ones(2, 3),
            "specialized it to be a constant (2)",
        ),
        (lambda x: x * len(x), torch.ones(2, 3), "to be a constant (2)"),
        (
            lambda x: -x if x.shape[0] > 4 else x,
            torch.ones(2, 3),
            "batch = Dim('batch', max=4)",
        ),
    ],
)
def test_a_constraint_is_violated(function, example, told):
    with raises_as_documented(PAGE, "UserError: Constraints violated") as caught:
        export(function, example)
    assert told in str(caught.value)


def test_dynamic_raises_where_auto_is_silent():
    shapes = ({0: Dim.DYNAMIC},)
    with pytest.raises(UserError, match=r"(?s)^Constraints violated.* constant \(2\)"):
        export(lambda x: x * len(x), torch.ones(2, 3), dynamic_shapes=shapes)


def test_auto_falls_silently_back_to_the_example():
    shapes = ({0: Dim.AUTO},)
    program = export(
        lambda x: x + torch.ones(2, 1), torch.ones(2, 3), dynamic_shapes=shapes
    )
    with pytest.raises(AssertionError, match="Guard failed"):
        program.module()(torch.ones(5, 3))


def branch(x):
    if x.sum() > 0:
        return x + 1
    return x - 1


def test_a_branch_on_a_value():
    with raises_as_documented(
        PAGE, "GuardOnDataDependentSymNode: Could not guard"
    ) as caught:
        export(branch, torch.ones(2, 3))
    _, _, place = str(caught.value).partition("The following call raised this error")
    assert "if x.sum() > 0" in place
    with raises_as_documented(PAGE, "GuardOnDataDependentSymNode: Could not guard"):
        export(lambda x: x[: int(x.sum())], torch.ones(2, 3))


@pytest.mark.parametrize(
    "instead",
    [
        lambda x: torch.where(x.sum() > 0, x + 1, x - 1),
        lambda x: torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,)),
    ],
)
def test_what_to_write_instead(instead):
    exported = export(instead, torch.ones(2, 3)).module()
    for x in (torch.ones(4, 3), -torch.ones(5, 3)):
        assert torch.equal(exported(x), branch(x))


def test_the_mode_is_that_of_the_export():
    exported = export(nn.Dropout().train(), torch.ones(2, 99)).module()
    assert (exported(torch.ones(2, 99)) == 0).any()
    with raises_as_documented(PAGE, "NotImplementedError: Calling eval() is not"):
        exported.eval()
    exported = export(nn.Dropout().eval(), torch.ones(2, 99)).module()
    assert torch.equal(exported(torch.ones(2, 99)), torch.ones(2, 99))


def test_arguments():
    model, x = nn.Linear(3, 3), torch.ones(2, 3)
    with raises_as_documented(PAGE, "UserError: Expecting `args` to be a tuple"):
        torch.export.export(model, x)
    with raises_as_documented(PAGE, "UserError: When `dynamic_shapes` is specified"):
        export(model, x, dynamic_shapes={"x": {0: Dim("batch")}})


def test_other_readers_refuse_the_file():
    torch.export.save(export(torch.relu, torch.ones(2, 3)), "model.pt2")
    with raises_as_documented(PAGE, "RuntimeError: PytorchStreamReader failed"):
        torch.load("model.pt2", weights_only=True)


class Masked(nn.Module):
    def forward(self, ids, mask):
        return (ids * mask).sum(1)


def test_two_inputs_share_their_sizes():
    batch, time = Dim("batch"), Dim("time", min=2, max=512)
    sizes = {0: batch, 1: time}
    shapes = {"ids": sizes, "mask": sizes}
    example = torch.ones(2, 5), torch.ones(2, 5)
    exported = export(Masked(), *example, dynamic_shapes=shapes).module()
    assert exported(torch.ones(3, 9), torch.ones(3, 9)).tolist() == [9, 9, 9]
    for ids, mask in ((9, 8), (513, 513)):
        with pytest.raises(AssertionError, match="Guard failed"):
            exported(torch.ones(3, ids), torch.ones(3, mask))


def test_a_program_moves_to_another_device():
    def constant(x):
        return x + torch.ones(3, device=x.device)

    program = move_to_device_pass(export(constant, torch.ones(2, 3)), "meta")
    assert program.module()(torch.ones(5, 3, device="meta")).device.type == "meta"
