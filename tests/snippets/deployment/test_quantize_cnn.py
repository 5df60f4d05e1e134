"""quantize-cnn: int8 weights by NumPy, logits and accuracy by the float network."""

import warnings
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx import numpy_helper
from onnxruntime.quantization import quantize_static
from torch import nn
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.quantization.pt2e.quantizer.x86_inductor_quantizer import (
    X86InductorQuantizer,
    get_default_x86_inductor_quantization_config,
)

from tests.helpers import ROOT, load_snippet, raises_as_documented

PAGE = "deployment/quantize-cnn"


@pytest.fixture(scope="module")
def snippet(tmp_path_factory):
    """The snippet, which leaves its files in the folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("cnn"))
        found = load_snippet("deployment/quantize_cnn.py")
        found.folder = Path.cwd()
    return found


def logits(path, images):
    session = onnxruntime.InferenceSession(path)
    return session.run(None, {"input": images.numpy()})[0]


def test_size_and_accuracy(snippet):
    files = [snippet.folder / name for name in ("float.onnx", "int8.onnx")]
    sizes = [file.stat().st_size for file in files]
    assert 3.4 < sizes[0] / sizes[1] < 4
    test, labels = snippet.images[1200:], snippet.labels[1200:]
    with torch.no_grad():
        y = snippet.model(test)
    exact, int8 = (logits(file, test) for file in files)
    np.testing.assert_allclose(exact, y, rtol=1e-3, atol=1e-4)
    assert 0 < np.linalg.norm(int8 - exact) / np.linalg.norm(exact) < 0.05
    right = (int8.argmax(1) == labels.numpy()).mean()
    assert abs(right - (y.argmax(1) == labels).float().mean().item()) < 0.01
    assert logits(files[1], test[:1]).shape == (1, 10)  # any batch size


def test_weights_are_seven_bits_with_a_scale_for_each_channel(snippet):
    """The scale is the largest weight of the channel, divided by 64 or 63."""
    graph = onnx.load(snippet.folder / "int8.onnx").graph
    held = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    conv, norm = snippet.model[0], snippet.model[1]
    with torch.no_grad():  # as fuse-conv-bn says
        factor = norm.weight / (norm.running_var + norm.eps).sqrt()
        merged = (conv.weight * factor[:, None, None, None]).numpy()
    name = next(n for n, w in held.items() if w.shape == (64, 1, 3, 3))
    whole = held[name]
    assert whole.dtype == np.int8
    assert np.abs(whole.astype(int)).max() <= 64
    scale = held[name.replace("_quantized", "_scale")]
    assert scale.shape == (64,)
    largest = np.abs(merged).max((1, 2, 3))
    np.testing.assert_allclose(scale, largest / 63.5, rtol=0.01)
    error = np.abs(whole * scale[:, None, None, None] - merged)
    assert (error.max((1, 2, 3)) <= 0.51 * scale + 1e-6).all()


def test_batches_of_the_calibration(snippet):
    batches = snippet.Calibration(snippet.loader, 3)
    shapes = [batches.get_next()["input"].shape for _ in range(3)]
    assert shapes == [(60, 1, 8, 8)] * 3
    assert batches.get_next() is None
    few = snippet.Calibration(snippet.loader[:2], 10)
    assert [few.get_next() is None for _ in range(3)] == [False, False, True]


def test_noise_is_no_calibration(snippet):
    """Batches a hundred times too large spoil the scales."""
    loader = [(100 * torch.randn_like(x), y) for x, y in snippet.loader]
    path = snippet.folder / "noise.onnx"
    merged = snippet.folder / "merged.onnx"
    quantize_static(merged, path, snippet.Calibration(loader), **snippet.kinds)
    found = logits(path, snippet.images[1200:]).argmax(1)
    assert (found == snippet.labels[1200:].numpy()).mean() < 0.8


def test_a_layer_that_is_left_in_float(snippet):
    path = snippet.folder / "float_first.onnx"
    batches = snippet.Calibration(snippet.loader)
    given = {**snippet.kinds, "nodes_to_exclude": ["node_Conv_19"]}
    quantize_static(snippet.folder / "merged.onnx", path, batches, **given)
    weights = [numpy_helper.to_array(i) for i in onnx.load(path).graph.initializer]
    kinds = {w.shape: w.dtype for w in weights if w.ndim == 4}
    assert kinds == {(64, 1, 3, 3): np.float32, (128, 64, 3, 3): np.int8}


class Reused(nn.Module):
    """As in a ResNet: one ReLU, used twice."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(3, 3, 1), nn.Conv2d(3, 3, 1)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.relu(self.b(self.relu(self.a(x))) + x)


def prepared(model, x, strict):
    quantizer = X86InductorQuantizer()
    quantizer.set_global(get_default_x86_inductor_quantization_config())
    program = torch.export.export(model.eval(), (x,), strict=strict)
    return prepare_pt2e(program.module(), quantizer)


def test_a_layer_that_is_used_twice_needs_strict():
    x = torch.randn(2, 3, 4, 4)
    with raises_as_documented(PAGE, "ValueError: Input partition has more than one"):
        prepared(Reused(), x, strict=False)
    model = Reused()
    observed = prepared(model, x, strict=True)
    observed(x)
    int8 = convert_pt2e(observed)
    with torch.no_grad():
        y = model(x.clone())
        assert 0 < (int8(x) - y).norm() / y.norm() < 0.05
    kinds = {w.dtype for w in int8.state_dict().values()}
    assert {torch.int8, torch.float32} <= kinds  # the float weights stay
    floats = sum(w.numel() for n, w in int8.named_parameters() if "weight" in n)
    assert floats == 18


@pytest.mark.filterwarnings("ignore")
def test_old_quantized_layers_and_operations_take_no_other_kind():
    """The stubs and the functional of torch.ao.quantization turn one into another."""
    kinds = torch.ao.nn.quantized
    x = torch.rand(1, 3, 8, 8)
    whole = kinds.Quantize(0.1, 0, torch.quint8)(x)  # what QuantStub becomes
    layer = kinds.Conv2d(3, 4, 3)
    with raises_as_documented(PAGE, "NotImplementedError: Could not run 'quantized"):
        layer(x)
    assert layer(whole).dtype == torch.quint8
    with raises_as_documented(PAGE, "NotImplementedError: Could not run 'aten::add"):
        whole + whole
    assert kinds.QFunctional().add(whole, whole).dtype == torch.quint8
    assert kinds.DeQuantize()(whole).dtype == torch.float32


def test_a_float_convolution_after_a_quantized_one():
    with warnings.catch_warnings(action="ignore"):  # old quantized tensors
        x = torch.quantize_per_tensor(torch.rand(1, 3, 8, 8), 0.1, 0, torch.quint8)
    with raises_as_documented(PAGE, "NotImplementedError: Could not run 'aten::_s"):
        nn.Conv2d(3, 4, 3, bias=False)(x)
    with pytest.raises(RuntimeError) as caught:
        nn.Conv2d(3, 4, 3)(x)
    page = (ROOT / f"docs/en/{PAGE}.md").read_text("utf-8")
    assert "Input type (c10::quint8) and bias type (float)" in page
    assert str(caught.value).startswith(
        "Input type (c10::quint8) and bias type (float)"
    )


def test_a_layer_that_saw_no_batch():
    ao = torch.ao.quantization
    with warnings.catch_warnings(action="ignore"):  # all of it is deprecated
        model = nn.Sequential(ao.QuantStub(), nn.Conv2d(3, 4, 3)).eval()
        model.qconfig = ao.get_default_qconfig("x86")
        ao.prepare(model, inplace=True)
    message = "UserWarning: must run observer before"
    with raises_as_documented(PAGE, message), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", message="must run observer")
        ao.convert(model)
