"""export-onnx: the file against onnx's NumPy evaluator and against torch."""

import io
import re
import shutil
import sys

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx.reference import ReferenceEvaluator
from torch import nn

from tests.helpers import ROOT, load_snippet, raises_as_documented

PAGE = "deployment/export-onnx"
snippet = load_snippet("deployment/export_onnx.py")


class Net(nn.Module):
    """What can go wrong in the wrong mode: batch norm, dropout."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)
        self.dropout, self.head = nn.Dropout(), nn.Linear(4, 5)

    def forward(self, x):
        x = self.norm(self.conv(x)).relu().mean(dim=(2, 3))
        return self.head(self.dropout(x))


class Apply(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A model in training mode, with used statistics, and its file."""
    torch.manual_seed(0)
    model = Net()
    for _ in range(5):
        model(torch.randn(8, 3, 6, 6) * 2 + 1)
    path = tmp_path_factory.mktemp("onnx") / "model.onnx"
    snippet.export_onnx(model, torch.randn(2, 3, 6, 6), str(path))
    return model, path


def run(path, x: torch.Tensor) -> np.ndarray:
    return onnxruntime.InferenceSession(path).run(None, {"input": x.numpy()})[0]


def expected(model: Net, x: torch.Tensor) -> np.ndarray:
    """The network in evaluation mode, by hand, in float64."""
    weights = {name: w.double() for name, w in model.state_dict().items()}
    h = nn.functional.conv2d(x.double(), weights["conv.weight"], weights["conv.bias"])
    mean, var = weights["norm.running_mean"], weights["norm.running_var"]
    scale = weights["norm.weight"] / (var + model.norm.eps).sqrt()
    h = (h - mean.view(-1, 1, 1)) * scale.view(-1, 1, 1)
    h = (h + weights["norm.bias"].view(-1, 1, 1)).clamp(min=0).mean(dim=(2, 3))
    return (h @ weights["head.weight"].T + weights["head.bias"]).numpy()


@pytest.mark.parametrize("N", [1, 2, 7, 0])
def test_every_batch_size_in_two_runtimes(exported, N):
    model, path = exported
    x = torch.randn(N, 3, 6, 6)
    numpy_output = ReferenceEvaluator(str(path)).run(None, {"input": x.numpy()})[0]
    for output in (run(path, x), numpy_output):
        assert output.shape == (N, 5)
        np.testing.assert_allclose(output, expected(model, x), rtol=1e-4, atol=1e-5)
    snippet.check_onnx(model, str(path), x)


def test_the_graph(exported):
    model, path = exported
    assert not model.training
    graph = onnx.load(path).graph
    (given,), (returned,) = graph.input, graph.output
    assert [(d.dim_param or d.dim_value) for d in given.type.tensor_type.shape.dim] == [
        "batch", 3, 6, 6,
    ]  # fmt: skip
    assert (given.name, returned.name) == ("input", "output")
    assert returned.type.tensor_type.shape.dim[0].dim_param == "batch"
    assert {node.op_type for node in graph.node}.isdisjoint(
        {"Dropout", "BatchNormalization"}
    )
    assert [file.name for file in path.parent.iterdir()] == ["model.onnx"]


def test_input_that_is_not_contiguous_or_requires_grad(exported):
    model, path = exported
    x = torch.randn(6, 3, 6, 3).transpose(0, 3).requires_grad_()
    snippet.check_onnx(model, str(path), x)


def test_the_check_notices_other_weights_and_training_mode(exported):
    model, path = exported
    x = torch.randn(4, 3, 6, 6)
    model.head.bias.data[0] += 0.01
    with pytest.raises(AssertionError, match="not close"):
        snippet.check_onnx(model, str(path), x)
    model.head.bias.data[0] -= 0.01
    model.train()
    with pytest.raises(AssertionError, match="not close"):
        snippet.check_onnx(model, str(path), x)
    model.eval()


def test_without_dynamic_shapes_only_one_batch_size_fits(tmp_path):
    path = tmp_path / "fixed.onnx"
    torch.onnx.export(
        nn.ReLU().eval(),
        (torch.ones(2, 3),),
        path,
        input_names=["input"],
        verbose=False,
    )
    with raises_as_documented(PAGE):
        run(path, torch.ones(1, 3))


def test_weights_in_a_second_file_must_stay_beside_the_first(tmp_path):
    path = tmp_path / "model.onnx"
    torch.onnx.export(
        nn.Sequential(nn.Linear(3, 300)).eval(),
        (torch.ones(2, 3),),
        path,
        verbose=False,
    )
    assert (tmp_path / "model.onnx.data").exists()
    (tmp_path / "elsewhere").mkdir()
    shutil.copy(path, tmp_path / "elsewhere")
    with raises_as_documented(PAGE):
        onnxruntime.InferenceSession(tmp_path / "elsewhere" / "model.onnx")


def test_a_model_that_fixes_the_batch_size_is_refused(tmp_path):
    model = Apply(lambda x: x + torch.ones(2, 1))
    with raises_as_documented(PAGE) as caught:
        snippet.export_onnx(model, torch.ones(2, 3), str(tmp_path / "a.onnx"))
    assert "inferred a static shape of 2" in str(caught.value)


def test_a_branch_is_frozen_silently(tmp_path):
    path = tmp_path / "branch.onnx"
    model = Apply(lambda x: x if len(x) > 4 else -x)
    snippet.export_onnx(model, torch.ones(2, 3), str(path))
    snippet.check_onnx(model, str(path), torch.ones(3, 3))
    with pytest.raises(AssertionError, match="not close"):
        snippet.check_onnx(model, str(path), torch.ones(5, 3))


def test_a_branch_on_values_is_refused(tmp_path):
    model = Apply(lambda x: x if x.sum() > 0 else -x)
    with pytest.raises(Exception, match="Failed to export"):
        snippet.export_onnx(model, torch.ones(2, 3), str(tmp_path / "a.onnx"))


def test_an_operator_that_onnx_lacks(tmp_path):
    path, x = str(tmp_path / "a.onnx"), torch.randn(2, 5)
    with pytest.raises(Exception, match="Failed to convert") as caught:
        snippet.export_onnx(Apply(lambda x: x.median(1).values), x, path)
    page = (ROOT / f"docs/en/{PAGE}.md").read_text()
    quoted = re.search(r"`(No ONNX function found for .*?)`, from", page)[1]
    assert quoted in str(caught.value)
    # What the page writes in its place.
    model = Apply(lambda x: x.sort(1).values[:, 2])
    snippet.export_onnx(model, x, path)
    snippet.check_onnx(model, path, x)
    assert torch.equal(model(x), x.median(1).values)


def test_training_mode_warns_and_leaves_dropout_in(tmp_path):
    path = tmp_path / "random.onnx"
    with pytest.warns(UserWarning, match="while it is in training mode"):
        torch.onnx.export(
            nn.Dropout(), (torch.ones(2, 999),), path, input_names=["input"],
            verbose=False,
        )  # fmt: skip
    assert not np.array_equal(*(run(path, torch.ones(2, 999)) for _ in range(2)))


def test_float64_input_is_refused(exported):
    with raises_as_documented(PAGE):
        run(exported[1], torch.zeros(1, 3, 6, 6, dtype=torch.float64))


def test_progress_marks_do_not_fit_into_gbk(tmp_path, monkeypatch):
    console = io.TextIOWrapper(io.BytesIO(), encoding="gbk")
    monkeypatch.setattr(sys, "stdout", console)
    model, x = nn.Sequential(nn.ReLU()).eval(), torch.ones(2, 3)
    with raises_as_documented(PAGE):
        torch.onnx.export(model, (x,), tmp_path / "a.onnx")


def test_an_old_opset_is_not_what_is_written(tmp_path):
    path = tmp_path / "up.onnx"
    model = nn.Upsample(scale_factor=2, mode="bilinear").eval()
    torch.onnx.export(
        model, (torch.ones(1, 1, 2, 2),), path, opset_version=9, verbose=False
    )
    assert [opset.version for opset in onnx.load(path).opset_import] == [18]
