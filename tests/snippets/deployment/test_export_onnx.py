"""export-onnx: the file against onnx's NumPy evaluator and against torch."""

import contextlib
import io
import shutil
import sys
import warnings

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx.reference import ReferenceEvaluator
from onnxruntime.quantization import quantize_dynamic, shape_inference
from torch import nn

from tests.helpers import ROOT, load_snippet, raises_as_documented

PAGE = "deployment/export-onnx"
SOURCE = (ROOT / "snippets/deployment/export_onnx.py").read_text("utf-8")
LINES = compile(SOURCE[SOURCE.index("program =") :].split("\n\n")[0], PAGE, "exec")
# What the exporter of older releases says about its own code; see the page.
pytestmark = pytest.mark.filterwarnings("ignore:.*isinstance.treespec:FutureWarning")


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


class Apply2(Apply):
    def forward(self, x, y):
        return self.function(x, y)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def export(model, *inputs, **options):
    """As the page does it: of any batch size, into one file, without a report."""
    options = {"dynamic_shapes": ({0: "batch"},) * len(inputs), **options}
    program = torch.onnx.export(model.eval(), inputs, verbose=False, **options)
    program.save("model.onnx")


def run(path, *inputs: torch.Tensor) -> list[np.ndarray]:
    session = onnxruntime.InferenceSession(path)
    names = [given.name for given in session.get_inputs()]
    arrays = [x.numpy() for x in inputs]
    return session.run(None, dict(zip(names, arrays, strict=True)))


def same(model, *inputs) -> bool:
    outputs = model(*inputs)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    given = zip(run("model.onnx", *inputs), outputs, strict=True)
    return all(np.allclose(a, b.detach(), rtol=1e-4, atol=1e-5) for a, b in given)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A model in training mode, with used statistics; the snippet's lines on it."""
    torch.manual_seed(0)
    model = Net()
    for _ in range(5):
        model(torch.randn(8, 3, 8, 8) * 2 + 1)
    folder = tmp_path_factory.mktemp("onnx")
    with contextlib.chdir(folder):
        exec(LINES, {"torch": torch, "model": model})
    return model, folder / "model.onnx"


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
    x = torch.randn(N, 3, 8, 8)
    numpy_output = ReferenceEvaluator(str(path)).run(None, {"input": x.numpy()})[0]
    for output in (run(path, x)[0], numpy_output):
        assert output.shape == (N, 5)
        np.testing.assert_allclose(output, expected(model, x), rtol=1e-4, atol=1e-5)


class WithToken(nn.Module):
    """A token before each sequence, as a vision transformer has it."""

    def forward(self, x):
        return torch.cat([torch.zeros(1, 1, 4).expand(len(x), -1, -1), x], dim=1)


@pytest.mark.parametrize("rows", [1, 2])
def test_an_example_of_one_row_fixes_the_size_without_a_word(rows, tmp_path):
    model, x, path = WithToken().eval(), torch.randn(3, 5, 4), tmp_path / "model.onnx"
    options = {"dynamic_shapes": ({0: "batch"},), "dynamo": True, "verbose": False}
    torch.onnx.export(model, (torch.randn(rows, 5, 4),), **options).save(path)
    if rows == 1:
        with pytest.raises(Exception, match="Concat"):
            run(path, x)
    else:
        np.testing.assert_array_equal(run(path, x)[0], model(x).numpy())


def test_the_graph(exported):
    model, path = exported
    assert not model.training
    file = onnx.load(path)
    (given,), (returned,) = file.graph.input, file.graph.output
    assert [(d.dim_param or d.dim_value) for d in given.type.tensor_type.shape.dim] == [
        "batch", 3, 8, 8,
    ]  # fmt: skip
    assert given.name == "input"
    assert returned.type.tensor_type.shape.dim[0].dim_param == "batch"
    assert {node.op_type for node in file.graph.node}.isdisjoint(
        {"Dropout", "BatchNormalization"}
    )
    assert [file.name for file in path.parent.iterdir()] == ["model.onnx"]
    assert [o.version for o in file.opset_import if not o.domain] == [20]


def test_the_file_itself(capsys):
    snippet = load_snippet("deployment/export_onnx.py")
    assert capsys.readouterr().out == "['batch', 3, 8, 8]\n"
    assert snippet.N == 7
    assert snippet.x.shape == (7, 3, 8, 8)
    np.testing.assert_allclose(
        snippet.output, snippet.model(snippet.x).detach(), rtol=1e-4, atol=1e-5
    )


def test_the_demonstration_notices_other_weights(monkeypatch):
    """Its check is a check: a file of another model does not pass."""
    session = onnxruntime.InferenceSession

    def other(path):
        torch.manual_seed(1)
        export(nn.Sequential(nn.Flatten(), nn.Linear(192, 5)), torch.randn(2, 3, 8, 8))
        return session(path)

    monkeypatch.setattr(onnxruntime, "InferenceSession", other)
    with pytest.raises(AssertionError, match="not close"):
        load_snippet("deployment/export_onnx.py")


def test_without_dynamic_shapes_only_one_batch_size_fits():
    export(nn.ReLU(), torch.ones(2, 3), dynamic_shapes=None)
    with raises_as_documented(
        PAGE, "InvalidArgument: [ONNXRuntimeError] : 2 : INVALID_ARGUMENT : Got"
    ):
        run("model.onnx", torch.ones(1, 3))


def test_dynamic_axes_are_converted_and_warned_of():
    with (
        warnings.catch_warnings(action="ignore", category=DeprecationWarning),
        pytest.warns(UserWarning, match="'dynamic_axes' is not recommended"),
    ):
        export(
            nn.ReLU(), torch.ones(2, 3), dynamic_shapes=None,
            input_names=["input"], dynamic_axes={"input": {0: "batch"}},
        )  # fmt: skip
    assert same(nn.ReLU(), torch.randn(5, 3))


def test_weights_in_a_second_file_must_stay_beside_the_first(tmp_path):
    model, x = nn.Sequential(nn.Linear(3, 300)).eval(), torch.ones(2, 3)
    torch.onnx.export(model, (x,), "model.onnx", verbose=False)
    assert (tmp_path / "model.onnx.data").exists()
    (tmp_path / "elsewhere").mkdir()
    shutil.copy("model.onnx", "elsewhere")
    with raises_as_documented(PAGE, "Fail: [ONNXRuntimeError] : 1"):
        onnxruntime.InferenceSession("elsewhere/model.onnx")


def test_models_that_fix_a_size_or_ask_for_values_are_refused():
    for function in (
        lambda x: x + torch.ones(2, 1),
        lambda x: x if x.sum() > 0 else -x,
    ):
        with raises_as_documented(PAGE, "TorchExportError: Failed to export") as caught:
            export(Apply(function), torch.ones(2, 3))
        if "ones" in function.__code__.co_names:
            assert "inferred a static shape of 2" in str(caught.value)
    model = Apply(lambda x: torch.where(x.sum() > 0, x, -x) + torch.ones(x.shape[0], 1))
    export(model, torch.ones(2, 3))
    assert same(model, torch.ones(5, 3))
    assert same(model, -torch.ones(4, 3))


def test_a_wrapped_model_or_an_input_without_an_entry():
    model, x = nn.Sequential(nn.Linear(3, 2)), torch.randn(2, 3)
    for wrapped, inner in (
        (nn.DataParallel(model), "module"),  # as DDP, but without a process group
        (torch.compile(model, backend="eager"), "_orig_mod"),
    ):
        with raises_as_documented(PAGE, "TorchExportError: Failed") as caught:
            export(wrapped, x)
        assert "Detected mismatch between the structure" in str(caught.value)
        export(getattr(wrapped, inner), x)
        assert same(model, torch.randn(5, 3))
    with raises_as_documented(PAGE, "TorchExportError: Failed") as caught:
        export(Apply2(torch.add), x, x, dynamic_shapes=({0: "batch"},))
    assert "Detected mismatch between the structure" in str(caught.value)


def test_a_bfloat16_model_becomes_float_first():
    model, x = nn.Linear(3, 2).bfloat16(), torch.randn(2, 3)
    export(model, x.bfloat16())
    with raises_as_documented(PAGE, "NotImplemented: [ONNXRuntimeError] : 9"):
        onnxruntime.InferenceSession("model.onnx")
    export(model.float(), x)
    assert same(model, torch.randn(5, 3))


def test_a_branch_is_frozen_silently():
    model = Apply(lambda x: x if len(x) > 4 else -x)
    export(model, torch.ones(2, 3))
    assert same(model, torch.ones(3, 3))
    assert not same(model, torch.ones(5, 3))


def test_an_operator_that_onnx_lacks():
    x = torch.randn(2, 5)
    with raises_as_documented(PAGE, "ConversionError: Failed to convert") as caught:
        export(Apply(lambda x: x.median(1).values), x)
    page = " ".join((ROOT / f"docs/en/{PAGE}.md").read_text("utf-8").split())
    quoted = "No ONNX function found for <OpOverload(op='aten.median', overload='dim')>"
    assert quoted in str(caught.value)
    assert quoted in page
    # What the page writes in its place.
    model = Apply(lambda x: x.sort(1).values[:, 2])
    export(model, x)
    assert same(model, x)
    assert torch.equal(model(x), x.median(1).values)


@pytest.mark.filterwarnings("ignore")
def test_an_operator_that_the_old_exporter_lacks():
    model, x = Apply(lambda x: torch.fft.fft2(x).real), torch.randn(2, 4)
    with raises_as_documented(PAGE, "UnsupportedOperatorError: Exporting"):
        torch.onnx.export(model, (x,), "old.onnx", dynamo=False)
    export(model, x, dynamic_shapes=None, dynamo=True)
    assert same(model, x)


def test_training_mode_warns_and_leaves_dropout_in():
    model, x = nn.Dropout(), torch.ones(2, 999)
    with raises_as_documented(PAGE, "UserWarning: Exporting a model"):
        torch.onnx.export(model, (x,), verbose=False)
    with warnings.catch_warnings(action="ignore"):
        torch.onnx.export(model, (x,), verbose=False).save("model.onnx")
    assert not np.array_equal(run("model.onnx", x), run("model.onnx", x))


def test_float64_input_is_refused(exported):
    with raises_as_documented(
        PAGE, "InvalidArgument: [ONNXRuntimeError] : 2 : INVALID_ARGUMENT : Unexpected"
    ):
        run(exported[1], torch.zeros(1, 3, 8, 8, dtype=torch.float64))


def test_progress_marks_do_not_fit_into_gbk(monkeypatch):
    console = io.TextIOWrapper(io.BytesIO(), encoding="gbk")
    monkeypatch.setattr(sys, "stdout", console)
    model, x = nn.Sequential(nn.ReLU()).eval(), torch.ones(2, 3)
    with raises_as_documented(PAGE, "UnicodeEncodeError: 'gbk' codec can't"):
        torch.onnx.export(model, (x,))


def test_an_old_opset_is_not_what_is_written():
    model = nn.Upsample(scale_factor=2, mode="bilinear")
    export(model, torch.ones(1, 1, 2, 2), opset_version=9, dynamic_shapes=None)
    (opset,) = onnx.load("model.onnx").opset_import
    assert opset.version == 18
    with warnings.catch_warnings(action="ignore"):  # the old exporter keeps to it
        torch.onnx.export(
            model, (torch.ones(1, 1, 2, 2),), "old.onnx",
            dynamo=False, opset_version=11,
        )  # fmt: skip
    (opset,) = onnx.load("old.onnx").opset_import
    assert opset.version == 11


def test_more_free_sizes():
    model = nn.TransformerEncoderLayer(8, 2, batch_first=True)
    export(model, torch.randn(2, 5, 8), dynamic_shapes=({0: "batch", 1: "time"},))
    assert same(model, torch.randn(3, 9, 8))
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    shapes = ({0: "batch", 2: "height", 3: "width"},)
    export(model, torch.randn(2, 3, 8, 8), dynamic_shapes=shapes)
    assert same(model, torch.randn(1, 3, 6, 11))


def scores(ids, mask):
    """Two outputs of two inputs that share their sizes."""
    hidden = ids.unsqueeze(-1) * mask.unsqueeze(-1)
    return hidden.sum(1), hidden


def test_several_inputs_and_outputs():
    ids, mask = torch.randn(2, 5), torch.ones(2, 5)
    with raises_as_documented(PAGE, "UserWarning: # The axis"):
        export(Apply2(scores), ids, mask)
    with warnings.catch_warnings(action="ignore"):
        export(Apply2(scores), ids, mask, output_names=["logits", "hidden"])
    assert same(Apply2(scores), torch.randn(4, 5), torch.randn(4, 5))
    named = [o.name for o in onnxruntime.InferenceSession("model.onnx").get_outputs()]
    assert named == ["logits", "hidden"]

    model = Apply2(lambda a, b: a + b)
    export(model, torch.ones(2, 3), torch.ones(3), dynamic_shapes=({0: "batch"}, None))
    assert same(model, torch.randn(4, 3), torch.randn(3))


def test_a_dict_as_input_and_as_output():
    class Model(nn.Module):
        def forward(self, batch):
            return dict(zip("ab", scores(batch["ids"], batch["mask"]), strict=True))

    batch = {"ids": torch.randn(2, 5), "mask": torch.ones(2, 5)}
    shapes = {"batch": {"ids": {0: "batch"}, "mask": {0: "batch"}}}
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        export(Model(), kwargs={"batch": batch}, dynamic_shapes=shapes)
    inputs = torch.randn(4, 5), torch.randn(4, 5)
    for output, value in zip(run("model.onnx", *inputs), scores(*inputs), strict=True):
        np.testing.assert_allclose(output, value, rtol=1e-5)


def test_int8():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 8))
    export(model, torch.randn(2, 64))
    shape_inference.quant_pre_process("model.onnx", "pre.onnx")
    quantize_dynamic("pre.onnx", "int8.onnx", reduce_range=True)
    x = torch.randn(5, 64)
    np.testing.assert_allclose(run("int8.onnx", x)[0], model(x).detach(), atol=0.05)
    operators = {node.op_type for node in onnx.load("int8.onnx").graph.node}
    assert "MatMulInteger" in operators
