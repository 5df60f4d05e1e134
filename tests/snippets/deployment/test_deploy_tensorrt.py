"""deploy-tensorrt: the exported file in two runtimes, and the page's commands.

TensorRT itself does not run here; what trtexec prints is quoted from its users.
"""

import contextlib
import re

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx import TensorProto
from onnx.reference import ReferenceEvaluator
from torch import nn

from tests.helpers import ROOT, load_snippet

PAGE = "deployment/deploy-tensorrt"
BASH = re.compile(r"^```bash\n(.*?)^```", re.MULTILINE | re.DOTALL)
SOURCE = (ROOT / "snippets/deployment/deploy_tensorrt.py").read_text("utf-8")
LINES = compile(SOURCE[SOURCE.index("program =") :].split("\n\n")[0], PAGE, "exec")
# What the exporter of older releases says about its own code; see export-onnx.
pytestmark = pytest.mark.filterwarnings("ignore:.*isinstance.treespec:FutureWarning")


def pages() -> list[str]:
    return [
        (ROOT / f"docs/{lang}/{PAGE}.md").read_text("utf-8") for lang in ("en", "zh")
    ]


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The snippet's model, from its export on; its file."""
    folder = tmp_path_factory.mktemp("trt")
    with contextlib.chdir(folder):
        snippet = load_snippet("deployment/deploy_tensorrt.py")
    return snippet, folder / "model.onnx"


def expected(model: nn.Sequential, x: torch.Tensor) -> np.ndarray:
    """The network by hand, in float64."""
    conv, head = model[0], model[-1]
    weight, bias = conv.weight.double(), conv.bias.double()
    h = nn.functional.conv2d(x.double(), weight, bias, stride=4).clamp(min=0)
    h = h.flatten(2).mean(2)
    return (h @ head.weight.double().T + head.bias).detach().numpy()


@pytest.mark.parametrize("N", [1, 3, 32])
def test_the_export_in_two_runtimes(exported, N):
    snippet, path = exported
    x = torch.randn(N, 3, 224, 224)
    session = onnxruntime.InferenceSession(path)
    runtimes = [session] if N == 32 else [session, ReferenceEvaluator(str(path))]
    for runtime in runtimes:
        (output,) = runtime.run(None, {"input": x.numpy()})
        want = expected(snippet.model, x)
        np.testing.assert_allclose(output, want, rtol=1e-4, atol=1e-5)


def test_the_file(exported):
    _, path = exported
    model = onnx.load(path)
    (given,), (returned,) = model.graph.input, model.graph.output
    assert given.name == "input"
    names = [d.dim_param or d.dim_value for d in given.type.tensor_type.shape.dim]
    assert names == ["batch", 3, 224, 224]
    assert returned.type.tensor_type.shape.dim[0].dim_param == "batch"
    assert [file.name for file in path.parent.iterdir()] == ["model.onnx"]
    (opset,) = [o.version for o in model.opset_import if o.domain == ""]
    assert 9 <= opset <= 25, "what TensorRT 11 reads"


def test_the_check_ends_with_the_largest_batch(exported):
    snippet, _ = exported
    assert snippet.x.shape == (snippet.N, 3, 224, 224) == (32, 3, 224, 224)
    want = expected(snippet.model, snippet.x)
    np.testing.assert_allclose(snippet.output, want, rtol=1e-4, atol=1e-5)


def test_the_check_notices_a_file_of_another_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    session = onnxruntime.InferenceSession

    def other(path):
        file = onnx.load(path)
        for weight in file.graph.initializer:
            values = onnx.numpy_helper.to_array(weight)
            if values.dtype == np.float32:
                new = onnx.numpy_helper.from_array(values + 0.01, weight.name)
                weight.CopyFrom(new)
        return session(file.SerializeToString())

    monkeypatch.setattr(onnxruntime, "InferenceSession", other)
    with pytest.raises(AssertionError, match="not close"):
        load_snippet("deployment/deploy_tensorrt.py")


def test_it_is_exported_in_evaluation_mode_and_in_half_precision(tmp_path, monkeypatch):
    """The page: a strongly typed engine takes its types from the file."""
    monkeypatch.chdir(tmp_path)
    pool = nn.AdaptiveAvgPool2d(1)
    layers = nn.Conv2d(3, 2, 5, stride=9), nn.Dropout(), pool, nn.Flatten()
    model = nn.Sequential(*layers).half()
    lines = SOURCE[SOURCE.index("program =") :].split("\n\n")[0]
    half = lines.replace(
        "torch.randn(2, 3, 224, 224)", "torch.randn(2, 3, 224, 224).half()"
    )
    assert half != lines
    exec(half, {"torch": torch, "model": model})
    assert not model.training
    graph = onnx.load("model.onnx").graph
    assert "Dropout" not in {node.op_type for node in graph.node}
    assert graph.input[0].type.tensor_type.elem_type == TensorProto.FLOAT16
    kinds = {weight.data_type for weight in graph.initializer}
    assert TensorProto.FLOAT16 in kinds
    assert kinds.isdisjoint({TensorProto.FLOAT, TensorProto.DOUBLE})
    x = torch.randn(5, 3, 224, 224).half()
    (output,) = onnxruntime.InferenceSession("model.onnx").run(
        None, {"input": x.numpy()}
    )
    torch.testing.assert_close(torch.from_numpy(output), model(x).detach())


def test_the_commands_fit_the_file(exported):
    """Names and sizes of the options are those of the snippet and its file."""
    snippet, _ = exported
    sizes = re.search(r"for N in (\d+), (\d+), (\d+):", SOURCE).groups()
    for page in pages():
        command, measure = BASH.findall(page)
        program, *options = command.replace("\\\n", " ").split()
        assert program == "trtexec"
        given = dict(option.split("=", 1) for option in options)
        assert given.pop("--onnx") == "model.onnx"
        assert given.pop("--saveEngine") == "model.plan"
        assert given == {
            f"--{kind}Shapes": f"input:{size}x3x224x224"
            for kind, size in zip(("min", "opt", "max"), sizes, strict=True)
        }
        opt = given["--optShapes"]
        assert measure == f"trtexec --loadEngine=model.plan --shapes={opt}\n"
        assert snippet.session.get_inputs()[0].name == "input"
        assert "--fp16" not in command  # gone since TensorRT 11


def test_what_else_the_page_says_has_the_same_shapes():
    for page in pages():
        rest = re.findall(r"input:\[?\d+[x,]([\dx,]+)", page)
        assert {text.replace(",", "x") for text in rest} == {"3x224x224"}
        assert re.findall(r"_shape=(\(.*?\))", " ".join(page.split())) == [
            f"({N}, 3, 224, 224)" for N in (1, 8, 32)
        ]
