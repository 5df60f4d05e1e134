"""clone-detach-copy: values against lists, memory by writing, hand-worked gradients."""

import copy
import math
import warnings

import pytest
import torch
from torch import nn

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/clone-detach-copy"
snippet = load_snippet("tensors/clone_detach_copy.py")


def test_what_each_copy_sees_of_the_update():
    assert snippet.w.tolist() == snippet.value.tolist() == [11, 12]
    assert snippet.saved.tolist() == snippet.branch.tolist() == [1, 2]
    assert snippet.value.data_ptr() == snippet.w.data_ptr()
    pointers = {t.data_ptr() for t in (snippet.w, snippet.saved, snippet.branch)}
    assert len(pointers) == 3


def test_what_is_in_the_graph():
    assert snippet.branch.grad_fn is not None
    for tensor in (snippet.saved, snippet.value):
        assert tensor.grad_fn is None
        assert not tensor.requires_grad
    assert snippet.w.grad.tolist() == [1, 1]


@pytest.mark.parametrize(
    "tensor",
    [
        torch.tensor(3.5, requires_grad=True),  # 0-dim
        torch.empty(0, 4),
        torch.arange(6).reshape(2, 3).T,  # not contiguous
        torch.ones(1, 3).expand(4, 3),  # rows share memory
        torch.tensor([1.0, 2.0], requires_grad=True) * 2,  # not a leaf
        nn.Parameter(torch.ones(2)),
    ],
    ids=repr,
)
def test_either_order_gives_a_value_of_its_own(tensor):
    before = tensor.tolist()
    for new in (tensor.detach().clone(), tensor.clone().detach()):
        assert type(new) is torch.Tensor
        assert new.tolist() == before
        assert not new.requires_grad
        new.zero_()
        assert tensor.tolist() == before


@pytest.mark.parametrize("w", [torch.tensor([3, 4]), torch.ones(2, 3).bfloat16().T])
def test_the_answer_without_a_gradient_and_for_a_view(w):
    names, before = {"w": w}, w.tolist()
    exec(answer("clone-detach-copy"), names)
    w.zero_()
    assert names["saved"].tolist() == names["branch"].tolist() == before
    assert names["value"].tolist() == w.tolist()
    assert names["saved"].dtype == w.dtype


def test_gradients_by_hand():
    # d/dx of clone(x) * x^2 is 3 x^2; of detach(x) * x^2 it is 2 x^2.
    for make, expected in ((torch.clone, 27.0), (torch.detach, 18.0)):
        x = torch.tensor(3.0, requires_grad=True)
        (make(x) * x**2).backward()
        assert x.grad.item() == expected


def test_what_follows_a_training_step():
    model = nn.Linear(2, 1)
    live = [model.weight.detach(), model.weight[0], model.state_dict()["weight"]]
    kept = [
        model.weight.detach().clone(),
        copy.deepcopy(model.state_dict())["weight"],
    ]
    before = model.weight.tolist()
    model(torch.ones(3, 2)).sum().backward()
    torch.optim.SGD(model.parameters(), lr=1.0).step()
    assert all(old.flatten().tolist() != before[0] for old in live)
    assert all(old.tolist() == before for old in kept)


def write_into_a_detached_result():
    y = torch.ones(2, requires_grad=True).exp()
    y.detach().zero_()
    y.sum().backward()


@pytest.mark.parametrize(
    ("start", "wrong"),
    {
        "AttributeError: 'builtin_function_or_method'": lambda x: x.detach.clone(),
        "AttributeError: 'Tensor' object has no": lambda x: x.copy(),
        "RuntimeError: a leaf Variable": lambda x: x.add_(1),
        "RuntimeError: Only Tensors created": lambda x: copy.deepcopy(x * 2),
        "RuntimeError: one of the": lambda x: write_into_a_detached_result(),
        "UserWarning: To copy construct": torch.tensor,
    }.items(),
)
def test_the_documented_errors_are_raised(start, wrong):
    with warnings.catch_warnings(), raises_as_documented(PAGE, start):
        warnings.simplefilter("error")
        wrong(torch.ones(2, requires_grad=True))


@pytest.mark.parametrize(
    ("write", "gradient"),
    [
        (lambda y: y.data.zero_(), 0),  # wrong, in silence
        (lambda y: y.detach().clone().zero_(), math.e),
    ],
)
def test_data_hides_the_change_and_the_gradient_is_wrong(write, gradient):
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    write(y)
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx([gradient, gradient])


def test_the_deepcopy_of_a_parameter_is_a_parameter():
    new = copy.deepcopy(nn.Parameter(torch.ones(2)))
    assert type(new) is nn.Parameter
    assert new.requires_grad


def test_conversions_with_nothing_to_do_return_the_tensor_itself():
    x = torch.ones(2)
    for same in (x.to(x.dtype), x.cpu(), x.contiguous()):
        assert same is x
    assert x.to(x.dtype, copy=True).data_ptr() != x.data_ptr()


def test_the_other_variants():
    x = torch.arange(6.0, requires_grad=True).reshape(2, 3).T
    leaf = x.detach().clone().requires_grad_()
    assert leaf.is_leaf
    assert leaf.stride() == x.stride() == (1, 3)
    assert x.clone(memory_format=torch.contiguous_format).stride() == (2, 1)
    target = torch.zeros(3, 2)
    pointer = target.data_ptr()
    assert target.copy_(x).tolist() == x.tolist()
    assert target.data_ptr() == pointer
