"""deploy-tensorrt: graphs built by hand, ONNX Runtime, and the page's command."""

import re

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from torch import nn

from tests.helpers import ROOT, load_snippet, raises_as_documented

PAGE = "deployment/deploy-tensorrt"
snippet = load_snippet("deployment/deploy_tensorrt.py")
BASH = re.compile(r"^```bash\n(.*?)^```", re.MULTILINE | re.DOTALL)


def graph_file(path, *shapes: tuple) -> str:
    """Write a graph with inputs a, b, ...; a size is a number, a name or None."""
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in zip("abcdef", shapes, strict=False)
    ]
    output = helper.make_tensor_value_info("out", TensorProto.FLOAT, None)
    node = helper.make_node("Identity", ["a"], ["out"])
    graph = helper.make_graph([node], "graph", inputs, [output])
    onnx.save(helper.make_model(graph), path)
    return str(path)


def test_one_free_dimension(tmp_path):
    path = graph_file(tmp_path / "a.onnx", ("batch", 3, 224, 224))
    assert snippet.shape_options(path, {"batch": (1, 8, 32)}) == [
        "--minShapes=a:1x3x224x224",
        "--optShapes=a:8x3x224x224",
        "--maxShapes=a:32x3x224x224",
    ]


def test_several_inputs_and_dimensions_fixed_ones_left_out(tmp_path):
    shapes = ("B", "T"), (4,), (), (2, "T"), ("B",)
    path = graph_file(tmp_path / "a.onnx", *shapes)
    sizes = {"B": (1, 2, 4), "T": (5, 64, 512), "unused": (7, 7, 7)}
    assert snippet.shape_options(path, sizes) == [
        "--minShapes=a:1x5,d:2x5,e:1",
        "--optShapes=a:2x64,d:2x64,e:2",
        "--maxShapes=a:4x512,d:2x512,e:4",
    ]


def test_a_dimension_without_sizes_or_without_a_name(tmp_path):
    path = graph_file(tmp_path / "a.onnx", ("batch", "width"))
    with pytest.raises(KeyError, match="width"):
        snippet.shape_options(path, {"batch": (1, 8, 32)})
    path = graph_file(tmp_path / "b.onnx", (None, 3))
    with pytest.raises(KeyError, match="''"):
        snippet.shape_options(path, {"batch": (1, 8, 32)})


def test_a_file_of_fixed_sizes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torch.onnx.export(
        nn.ReLU().eval(), (torch.ones(2, 3),), "model.onnx", verbose=False
    )
    with raises_as_documented(PAGE) as caught:
        snippet.shape_options("model.onnx", {"batch": (1, 8, 32)})
    assert caught.type is ValueError


def test_the_weights_may_be_elsewhere(tmp_path):
    model = nn.Sequential(nn.Linear(3, 300)).eval()
    path = tmp_path / "model.onnx"
    torch.onnx.export(
        model, (torch.ones(2, 3),), path, input_names=["input"],
        dynamic_shapes=({0: "batch"},), external_data=True, verbose=False,
    )  # fmt: skip
    (tmp_path / "model.onnx.data").unlink()
    assert snippet.shape_options(str(path), {"batch": (1, 2, 3)}) == [
        "--minShapes=input:1x3", "--optShapes=input:2x3", "--maxShapes=input:3x3",
    ]  # fmt: skip


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.dropout = nn.BatchNorm1d(4), nn.Dropout()
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        return self.head(self.dropout(self.norm(x)))


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    torch.manual_seed(0)
    model = Net()  # in training mode
    model(torch.randn(64, 4) * 3 + 2)
    path = tmp_path_factory.mktemp("trt") / "model.onnx"
    snippet.export_onnx(model, torch.randn(2, 4), str(path))
    return model, path


@pytest.mark.parametrize("N", [1, 8, 32])
def test_the_export_in_two_runtimes(exported, N):
    model, path = exported
    assert not model.training
    x = torch.randn(N, 4)
    norm, head = model.norm, model.head
    scale = norm.weight.double() / (norm.running_var.double() + norm.eps).sqrt()
    h = (x.double() - norm.running_mean) * scale + norm.bias
    expected = (h @ head.weight.double().T + head.bias).detach().numpy()
    session = onnxruntime.InferenceSession(path)
    for runtime in (session, ReferenceEvaluator(str(path))):
        (output,) = runtime.run(None, {"input": x.numpy()})
        np.testing.assert_allclose(output, expected, rtol=1e-4, atol=1e-5)


def test_the_file(exported):
    _, path = exported
    model = onnx.load(path)
    (given,), (returned,) = model.graph.input, model.graph.output
    assert (given.name, returned.name) == ("input", "output")
    names = [d.dim_param or d.dim_value for d in given.type.tensor_type.shape.dim]
    assert names == ["batch", 4]
    assert [file.name for file in path.parent.iterdir()] == ["model.onnx"]
    (opset,) = [o.version for o in model.opset_import if o.domain == ""]
    assert 9 <= opset <= 25, "the page: what TensorRT 11 reads"


def test_nothing_is_printed(tmp_path, capsys):
    snippet.export_onnx(nn.ReLU(), torch.ones(2, 3), str(tmp_path / "a.onnx"))
    assert capsys.readouterr().out == ""


def test_half_precision_is_exported_as_such(tmp_path):
    """The page: a strongly typed engine takes its types from the file."""
    path, model = tmp_path / "half.onnx", Net().half()
    x = torch.randn(5, 4).half()
    snippet.export_onnx(model, x, str(path))
    graph = onnx.load(path).graph
    assert graph.input[0].type.tensor_type.elem_type == TensorProto.FLOAT16
    kinds = {weight.data_type for weight in graph.initializer}
    assert TensorProto.FLOAT16 in kinds
    assert kinds.isdisjoint({TensorProto.FLOAT, TensorProto.DOUBLE})
    (output,) = onnxruntime.InferenceSession(path).run(None, {"input": x.numpy()})
    torch.testing.assert_close(torch.from_numpy(output), model(x).detach())


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_command_on_the_page_is_what_the_snippet_prints(language, tmp_path):
    page = (ROOT / f"docs/{language}/{PAGE}.md").read_text("utf-8")
    (command,) = BASH.findall(page)
    words = command.replace("\\\n", " ").split()
    path = graph_file(tmp_path / "model.onnx", ("batch", 3, 8, 8))
    options = snippet.shape_options(path, {"batch": (1, 8, 32)})
    expected = [option.replace("=a:", "=input:") for option in options]
    assert [word for word in words if "Shapes" in word] == expected
    assert words[:2] == ["trtexec", "--onnx=model.onnx"]
    assert words[-1] == "--saveEngine=model.plan"
    assert "--fp16" not in command  # gone since TensorRT 11
