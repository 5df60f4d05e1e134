"""clone-detach-copy: values against lists, memory by writing, hand-worked gradients."""

import copy
import math
import warnings

import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/clone-detach-copy"
snippet = load_snippet("tensors/clone_detach_copy.py")


@pytest.mark.parametrize(
    "tensor",
    [
        torch.tensor(3.5, requires_grad=True),  # 0-dim
        torch.empty(0, 4),
        torch.arange(6).reshape(2, 3).T,  # not contiguous
        torch.ones(1, 3).expand(4, 3),  # rows share memory
        torch.tensor([1.5, -2.0], dtype=torch.bfloat16, requires_grad=True),
        torch.tensor([True, False]),
        torch.tensor([1 + 2j]).conj(),
        torch.tensor([1.0, 2.0], requires_grad=True) * 2,  # not a leaf
        nn.Parameter(torch.ones(2)),
    ],
    ids=repr,
)
def test_the_copy_is_equal_and_on_its_own(tensor):
    before = tensor.tolist()
    new = snippet.independent_copy(tensor)
    assert (new.shape, new.dtype, new.device) == (
        tensor.shape,
        tensor.dtype,
        tensor.device,
    )
    assert new.tolist() == before
    assert not new.requires_grad
    assert new.grad_fn is None
    assert type(new) is torch.Tensor
    new.zero_()
    assert tensor.tolist() == before


def test_writing_one_row_of_a_copied_expansion_keeps_the_others():
    new = snippet.independent_copy(torch.ones(1, 3).expand(4, 3))
    new[0] = 5
    assert new.sum() == 15 + 9


def test_the_relations_the_snippet_prints():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    expected = {
        "shared memory, no graph": x.detach(),
        "own memory, in graph": x.clone(),
        "own memory, no graph": snippet.independent_copy(x),
        "shared memory, in graph": x[1:],
    }
    for relation, new in expected.items():
        assert snippet.relation(new, x) == relation
        with torch.no_grad():
            x += 1
        alike = torch.equal(new, x[-len(new) :])
        assert alike == relation.startswith("shared")
        with torch.no_grad():
            x -= 1


def test_gradients_by_hand():
    # d/dx of clone(x) * x^2 is 3 x^2; of detach(x) * x^2 it is 2 x^2.
    for make, expected in (
        (torch.clone, 27.0),
        (torch.detach, 18.0),
        (snippet.independent_copy, 18.0),
    ):
        x = torch.tensor(3.0, requires_grad=True)
        (make(x) * x**2).backward()
        assert x.grad.item() == expected


def test_what_follows_a_training_step():
    model = nn.Linear(2, 1)
    live = [model.weight.detach(), model.weight[0], model.state_dict()["weight"]]
    kept = [
        snippet.independent_copy(model.weight),
        copy.deepcopy(model.state_dict())["weight"],
    ]
    before = model.weight.tolist()
    model(torch.ones(3, 2)).sum().backward()
    torch.optim.SGD(model.parameters(), lr=1.0).step()
    assert all(old.flatten().tolist() != before[0] for old in live)
    assert all(old.tolist() == before for old in kept)


def test_the_documented_errors_are_raised():
    x = torch.ones(2, requires_grad=True)
    with raises_as_documented(PAGE):
        x.detach.clone()
    with raises_as_documented(PAGE):
        copy.deepcopy(x * 2)
    with warnings.catch_warnings(), raises_as_documented(PAGE):
        warnings.simplefilter("error")
        torch.tensor(x)
    y = x.exp()
    y.detach().zero_()
    with raises_as_documented(PAGE):
        y.sum().backward()


def test_data_hides_the_change_and_the_gradient_is_wrong():
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    y.data.zero_()
    y.sum().backward()
    assert x.grad.tolist() == [0, 0]
    right = torch.ones(2, requires_grad=True)
    right.exp().sum().backward()
    assert right.grad.tolist() == pytest.approx([math.e, math.e])


def test_the_deepcopy_of_a_parameter_is_a_parameter():
    new = copy.deepcopy(nn.Parameter(torch.ones(2)))
    assert type(new) is nn.Parameter
    assert new.requires_grad


def test_conversions_with_nothing_to_do_return_the_tensor_itself():
    x = torch.ones(2)
    for same in (x.to(x.dtype), x.float(), x.cpu(), x.contiguous()):
        assert same is x
    new = x.to(x.dtype, copy=True)
    assert new.data_ptr() != x.data_ptr()


def test_the_variants():
    x = torch.arange(6.0, requires_grad=True).reshape(2, 3).T
    leaf = x.detach().clone().requires_grad_()
    assert leaf.is_leaf
    assert leaf.clone().stride() == x.stride() == (1, 3)
    assert x.clone(memory_format=torch.contiguous_format).stride() == (2, 1)
    target = nn.Parameter(torch.zeros(3, 2))
    with torch.no_grad():
        target.copy_(x)
    assert target.tolist() == x.tolist()
