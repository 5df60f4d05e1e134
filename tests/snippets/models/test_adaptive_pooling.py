"""adaptive-pooling: against a loop over windows, for many sizes; export; bad input."""

import io
import math
import warnings

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "models/adaptive-pooling"
snippet = load_snippet("models/adaptive_pooling.py")


def windows(n, out):
    return [(math.floor(i * n / out), math.ceil((i + 1) * n / out)) for i in range(out)]


def by_loops(x, out_h, out_w, reduce=np.mean):
    x = x.double().numpy()
    result = np.empty((*x.shape[:2], out_h, out_w))
    for i, (a, b) in enumerate(windows(x.shape[2], out_h)):
        for j, (c, d) in enumerate(windows(x.shape[3], out_w)):
            result[:, :, i, j] = reduce(x[:, :, a:b, c:d], axis=(2, 3))
    return torch.from_numpy(result).float()


def test_the_snippet_against_loops():
    x = snippet.features(torch.randn(2, 3, 14, 21)).detach()
    torch.testing.assert_close(snippet.pool(x), by_loops(x, 1, 1))
    head = snippet.model[-1]
    expected = by_loops(x, 1, 1).flatten(1) @ head.weight.T + head.bias
    torch.testing.assert_close(snippet.model[1:](x), expected)


@pytest.mark.parametrize("size", [(14, 21), (7, 1), (33, 40)])
def test_the_answer_takes_images_of_any_size(size):
    answer = recipes()["adaptive-pooling"].answer
    conv = nn.Conv2d(1, 4, 3, padding=1)
    names = {"features": nn.Sequential(conv, nn.ReLU()), "C": 4, "classes": 5}
    exec(answer.text, names)
    model = names["model"].bfloat16()
    y = model(torch.randn(1, 1, *size).bfloat16())
    assert y.shape == (1, 5)
    assert y.dtype == torch.bfloat16


def test_the_windows_of_the_page_by_hand():
    row = torch.tensor([[1.0, 2.0, 3.0, 4.0, 5.0]])
    assert windows(5, 3) == [(0, 2), (1, 4), (3, 5)]
    assert nn.AdaptiveAvgPool1d(3)(row).tolist() == [[1.5, 3, 4.5]]


@pytest.mark.parametrize("n", [1, 5, 7, 13, 14, 15, 20, 32])
def test_every_size(n):
    torch.manual_seed(n)
    x = torch.randn(1, 2, n, n + 1)
    torch.testing.assert_close(nn.AdaptiveAvgPool2d(7)(x), by_loops(x, 7, 7))
    largest = by_loops(x, 7, 7, np.max)
    torch.testing.assert_close(nn.AdaptiveMaxPool2d(7)(x), largest)
    lengths = {b - a for a, b in windows(n, 7)}
    assert max(lengths) - min(lengths) <= (1 if n % 7 else 0)
    P = nn.AdaptiveAvgPool1d(7)(torch.eye(n)).T
    Q = nn.AdaptiveAvgPool1d(7)(torch.eye(n + 1)).T
    assert P.shape == (7, n)
    torch.testing.assert_close(P @ x @ Q.T, nn.AdaptiveAvgPool2d(7)(x))


def test_a_plain_pooling_of_the_right_shape():
    x = torch.arange(225.0).reshape(1, 1, 15, 15)
    plain = nn.AvgPool2d(15 // 7)(x)
    assert plain.shape == (1, 1, 7, 7)
    assert not torch.allclose(plain, nn.AdaptiveAvgPool2d(7)(x))
    changed = x.clone()
    changed[:, :, -1] = 1e6
    assert torch.equal(nn.AvgPool2d(2)(changed), plain)


def test_variants():
    x = torch.randn(2, 3, 5, 4)
    kept = nn.AdaptiveAvgPool2d((None, 1))(x)
    torch.testing.assert_close(kept, x.mean(3, keepdim=True))
    largest = nn.AdaptiveMaxPool2d(1)(x).flatten(1)
    assert torch.equal(largest, x.amax(dim=(2, 3)))


def test_the_head_of_a_resnet():
    torchvision = pytest.importorskip("torchvision")
    with torch.device("meta"):
        model = torchvision.models.resnet18()
        model.avgpool = nn.AvgPool2d(7)
        assert model.eval()(torch.empty(1, 3, 224, 224)).shape == (1, 1000)


def test_the_older_exporter():
    pool, x = nn.AdaptiveAvgPool2d(7).eval(), torch.randn(1, 3, 15, 15)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with raises_as_documented(PAGE, "SymbolicValueError: Unsupported"):
            torch.onnx.export(pool, (x,), io.BytesIO(), dynamo=False)


def kernels(x, dynamic):
    pytest.importorskip("onnxscript")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.onnx.export(
            nn.AdaptiveAvgPool2d(7).eval(),
            (x,),
            dynamo=True,
            verbose=False,
            dynamic_shapes=({2: "h", 3: "w"},) if dynamic else None,
        )
    nodes = {node.op_type: node.attributes for node in program.model.graph}
    return nodes, program.model.graph.inputs[0].shape


def test_the_exporter_fixes_the_windows():
    nodes, shape = kernels(torch.randn(2, 3, 14, 14), dynamic=True)
    assert list(nodes) == ["AveragePool"]
    assert list(nodes["AveragePool"]["kernel_shape"].as_ints()) == [2, 2]
    assert not isinstance(shape[2], int)  # and yet other sizes are taken
    assert nn.AvgPool2d(2)(torch.randn(1, 1, 28, 28)).shape[2:] == (14, 14)


def test_it_exports_what_does_not_divide():
    nodes, _ = kernels(torch.randn(2, 3, 15, 15), dynamic=False)
    assert "AveragePool" not in nodes


def test_what_is_refused():
    images = [torch.zeros(3, 14, 21), torch.zeros(3, 32, 45)]
    with raises_as_documented(PAGE, "RuntimeError: stack expects"):
        next(iter(DataLoader(images, batch_size=2)))
    with raises_as_documented(PAGE, "RuntimeError: adaptive_avg_pool2d: output"):
        nn.AdaptiveAvgPool2d((7,))(torch.randn(1, 3, 5, 5))
    with raises_as_documented(PAGE, "RuntimeError: adaptive_avg_pool2d(): Expected"):
        nn.AdaptiveAvgPool2d(7)(torch.randn(5, 5))
    with raises_as_documented(PAGE, "NotImplementedError: "):
        nn.AdaptiveAvgPool2d(7)(torch.ones(1, 3, 5, 5, dtype=torch.long))
    assert nn.AdaptiveAvgPool1d(7)(torch.randn(3, 5)).shape == (3, 7)
