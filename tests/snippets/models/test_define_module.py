"""define-module: the network against NumPy, and each pitfall."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import prune

from tests.helpers import load_snippet, raises_as_documented

PAGE = "models/define-module"
snippet = load_snippet("models/define_module.py")
x = torch.randn(5, 4)


def test_the_network_is_two_matrix_products():
    model = snippet.Net(4, 3)
    w1, b1, w2, b2 = (p.detach().numpy() for p in model.parameters())
    hidden = np.maximum(x.numpy() @ w1.T + b1, 0)
    wanted = hidden @ w2.T + b2
    np.testing.assert_allclose(model(x).detach().numpy(), wanted, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(("inputs", "classes"), [(4, 3), (7, 1)])
def test_what_is_registered(inputs, classes):
    shapes = {
        k: tuple(v.shape) for k, v in snippet.Net(inputs, classes).state_dict().items()
    }
    assert shapes == {
        "fc1.weight": (32, inputs),
        "fc1.bias": (32,),
        "fc2.weight": (classes, 32),
        "fc2.bias": (classes,),
    }


def test_forward_called_directly_skips_hooks():
    model, seen = snippet.Net(4, 3), []
    model.register_forward_hook(lambda *_: seen.append(1))
    torch.testing.assert_close(model.forward(x), model(x))
    assert seen == [1]  # one of the two calls


def test_pruning_is_a_hook():
    layer = prune.l1_unstructured(nn.Linear(4, 3), "weight", amount=6)
    with torch.no_grad():
        layer.weight_orig.fill_(1)
    layer.bias = None
    stale = layer.forward(torch.ones(1, 4))
    assert not torch.equal(stale, torch.ones(3, 4).mul(layer.weight_mask).sum(1)[None])
    assert layer(torch.ones(1, 4)).sum() == 6


def test_a_layer_made_in_forward_is_not_registered():
    class Net(nn.Module):
        def forward(self, x):
            return nn.Linear(4, 3)(x)

    net = Net()
    assert not torch.equal(net(x), net(x))
    assert list(net.parameters()) == []


def test_no_super_init():
    class Net(nn.Module):
        def __init__(self):
            self.fc = nn.Linear(4, 3)

    with raises_as_documented(PAGE, "AttributeError: cannot assign module"):
        Net()


def test_no_forward():
    class Net(nn.Module):
        def foward(self, x):
            return x

    with raises_as_documented(PAGE, "NotImplementedError: Module [Net]"):
        Net()(x)


def test_no_return():
    class Net(nn.Module):
        def forward(self, x):
            torch.relu(x)

    with raises_as_documented(PAGE, "AttributeError: 'NoneType' object"):
        print(Net()(x).shape)
    with pytest.raises(TypeError, match=r"not NoneType$"):
        nn.functional.cross_entropy(Net()(x), torch.zeros(5).long())


class Named(nn.Module):
    """The page's messages name the class."""

    def forward(self, x):
        return x


Named.__name__ = Named.__qualname__ = "Net"
Named.forward.__qualname__ = "Net.forward"


def test_no_data():
    with raises_as_documented(PAGE, "TypeError: Net.forward() missing 1"):
        Named()()


def test_no_self():
    def forward(x):
        return x

    forward.__qualname__ = "Net.forward"
    model = type("Net", (nn.Module,), {"forward": forward})()
    with raises_as_documented(PAGE, "TypeError: Net.forward() takes 1"):
        model(x)


def test_data_for_the_constructor():
    def __init__(self):
        nn.Module.__init__(self)

    __init__.__qualname__ = "Net.__init__"
    Net = type("Net", (nn.Module,), {"__init__": __init__})
    with raises_as_documented(PAGE, "TypeError: Net.__init__() takes 1"):
        Net(x)


def test_a_constructor_with_single_underscores():
    def _init_(self, width):
        self.width = width

    Net = type("Net", (nn.Module,), {"_init_": _init_})
    with pytest.raises(TypeError, match=r"__init__\(\) takes 1 positional argument"):
        Net(32)


def test_relu_the_layer_given_a_tensor():
    with raises_as_documented(PAGE, "TypeError: linear(): argument 'input'"):
        nn.Linear(4, 3)(nn.ReLU(x))


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_bfloat16_and_another_device(device):
    model = snippet.Net(4, 3).to(device, torch.bfloat16)
    y = model(torch.ones(5, 4, device=device, dtype=torch.bfloat16))
    assert (y.dtype, y.device.type) == (torch.bfloat16, device)
