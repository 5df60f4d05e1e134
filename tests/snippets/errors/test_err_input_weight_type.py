"""err-input-weight-type: a convolution in float64, and every message of a CPU."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented

PAGE = "errors/err-input-weight-type"
snippet = load_snippet("errors/err_input_weight_type.py")
IMAGES = torch.rand(2, 3, 8, 8)


def test_the_snippet_raises_the_message_and_mends_it(capsys):
    load_snippet("errors/err_input_weight_type.py")
    error, dtypes = capsys.readouterr().out.splitlines()
    assert error.endswith(
        "Input type (torch.FloatTensor) and weight type (torch.HalfTensor) should be "
        "the same"
    )
    assert dtypes == "torch.float16 torch.float16 torch.float16"


def test_input_and_weights_end_on_one_device_with_one_dtype():
    weights = next(snippet.model.parameters())
    assert snippet.x.device == weights.device
    assert snippet.x.device.type == snippet.device.type
    assert snippet.x.dtype == weights.dtype == torch.float16


def test_half_precision_computes_the_same_to_three_digits():
    x, w = snippet.x.cpu().double(), next(snippet.model.parameters()).cpu().double()
    assert w.shape == (8, 3, 3, 3)
    assert x.shape == (2, 3, 16, 16)
    expected = F.conv2d(x, w).relu()
    out = snippet.model(snippet.x).cpu().double()
    torch.testing.assert_close(out, expected, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize(
    ("start", "convolution", "x"),
    [
        ("RuntimeError: Input type (double)", nn.Conv2d(3, 8, 3), IMAGES.double()),
        ("RuntimeError: Input type (c10::Half)", nn.Conv2d(3, 8, 3), IMAGES.half()),
        ("RuntimeError: Input type (float)", nn.Conv2d(3, 8, 3).half(), IMAGES),
        (
            "RuntimeError: Input type (unsigned char)",
            nn.Conv2d(3, 8, 3),
            torch.zeros(2, 3, 8, 8, dtype=torch.uint8),
        ),
        (
            "RuntimeError: Input type (torch.FloatTensor) and weight type (torch.Half",
            nn.Conv2d(3, 8, 3, bias=False).half(),
            IMAGES,
        ),
        (
            "RuntimeError: expected scalar type Double but found Float",
            nn.Conv2d(3, 8, 3, bias=False),
            IMAGES.double(),
        ),
        ("TypeError: conv2d() received", nn.Conv2d(3, 8, 3), IMAGES.numpy()),
    ],
)
def test_the_cpu_raises_what_the_page_quotes(start, convolution, x):
    with raises_as_documented(PAGE, start):
        convolution(x)
    w = convolution.weight
    assert convolution(torch.as_tensor(x).to(w.device, w.dtype)).dtype == w.dtype


def test_the_name_of_bfloat16():
    with pytest.raises(RuntimeError, match=r"bias type \(c10::BFloat16\)"):
        nn.Conv2d(3, 8, 3).bfloat16()(IMAGES)


def test_a_layer_in_a_python_list_stays_behind():
    class Net(nn.Module):
        def __init__(self, wrap):
            super().__init__()
            self.convs = wrap([nn.Conv2d(3, 8, 3, bias=False)])

        def forward(self, x):
            return self.convs[0](x)

    assert Net(list).to("meta").convs[0].weight.device.type == "cpu"
    assert Net(nn.ModuleList).to("meta").convs[0].weight.device.type == "meta"


def test_a_layer_made_in_forward_is_on_the_cpu():
    class Net(nn.Module):
        def forward(self, x):
            self.conv = nn.Conv2d(3, 8, 3)
            return self.conv

    assert Net().to("meta")(None).weight.device.type == "cpu"


def test_to_leaves_a_tensor_and_moves_a_model():
    x, model = torch.ones(2), nn.Linear(2, 2)
    x.to("meta")
    model.to("meta")
    assert x.device.type == "cpu"
    assert model.weight.device.type == "meta"


def test_autocast_takes_float32_input():
    model = nn.Conv2d(3, 8, 3)
    with torch.autocast("cpu", torch.bfloat16):
        assert model(IMAGES).dtype == torch.bfloat16


def test_the_parameters_of_every_device_and_dtype_are_counted():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2, device="meta").half())
    kinds = {(p.device.type, p.dtype) for p in model.parameters()}
    assert kinds == {("cpu", torch.float32), ("meta", torch.float16)}
