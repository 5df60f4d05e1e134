"""onnxruntime-inference: against onnx's NumPy evaluator, in float64, and by hand."""

import runpy
import shutil
import warnings

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx.reference import ReferenceEvaluator
from torch import nn

from tests.helpers import ROOT, assert_documented, raises_as_documented

PAGE = "deployment/onnxruntime-inference"
FILE = ROOT / "snippets/deployment/onnxruntime_inference.py"
# What the exporter of older releases says about its own code.
pytestmark = pytest.mark.filterwarnings("ignore:.*isinstance.treespec:FutureWarning")


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """What the file binds, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    names = runpy.run_path(str(FILE))
    names["printed"] = capsys.readouterr().out
    return names


@pytest.fixture
def session(run):
    return run["session"]


def export(model, x, path):
    options = {"dynamo": True, "verbose": False}
    torch.onnx.export(model.eval(), (x,), **options).save(path)
    return onnxruntime.InferenceSession(path)


def answer(**names):
    """Run the lines of the answer with the reader's names only."""
    source = FILE.read_text("utf-8")
    lines = source[source.index("wanted =") : source.index("\nexpected")]
    names |= {"np": np, "onnxruntime": onnxruntime}
    exec(lines, names)
    return names


@pytest.mark.parametrize("N", [1, 3, 9])
def test_any_batch_as_numpy_computes_it(run, N):
    images = np.random.default_rng(0).normal(size=(N, 3, 8, 8))
    output = answer(images=images)["output"]
    assert output.dtype == np.float32
    weight, bias = (p.detach().double().numpy() for p in run["net"][1].parameters())
    by_hand = images.reshape(N, 192) @ weight.T + bias
    np.testing.assert_allclose(output, by_hand, rtol=1e-4, atol=1e-5)
    feed = {run["name"]: images.astype(np.float32)}
    (other,) = ReferenceEvaluator("model.onnx").run(None, feed)
    np.testing.assert_allclose(output, other, rtol=1e-4, atol=1e-5)


def test_what_is_printed(run):
    assert run["printed"] == (
        "['CPUExecutionProvider']\n[('input', ['batch', 3, 8, 8], 'tensor(float)')]\n"
    )


def test_the_gpu_comes_first_where_there_is_one(run, monkeypatch):
    asked = []

    class Session:
        def __init__(self, path, providers):
            asked.append((path, providers))

        def get_providers(self):
            raise KeyboardInterrupt  # what follows needs a GPU

    gpu_build = ["TensorrtExecutionProvider", "CUDAExecutionProvider",
                 "CPUExecutionProvider"]  # fmt: skip
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: gpu_build)
    monkeypatch.setattr(onnxruntime, "InferenceSession", Session)
    with pytest.raises(KeyboardInterrupt):
        answer(images=run["images"])
    assert asked == [("model.onnx", ["CUDAExecutionProvider", "CPUExecutionProvider"])]


def test_a_provider_that_is_not_there(run):
    both = ["CUDAExecutionProvider", "CPUExecutionProvider"]
    with raises_as_documented(PAGE, "UserWarning: Specified provider"):
        onnxruntime.InferenceSession("model.onnx", providers=both)
    with warnings.catch_warnings(action="ignore"):
        session = onnxruntime.InferenceSession("model.onnx", providers=both)
    assert session.get_providers() == ["CPUExecutionProvider"]
    onnxruntime.preload_dlls()  # does no harm in a build for the CPU


def test_types(session, run):
    x = run["images"]
    with raises_as_documented(
        PAGE,
        "InvalidArgument: [ONNXRuntimeError] : 2 : INVALID_ARGUMENT : Unexpected input",
    ):
        session.run(None, {"input": x})
    with raises_as_documented(PAGE, "RuntimeError: Input must be"):
        session.run(None, {"input": torch.tensor(x).float()})
    ids = export(nn.Embedding(9, 2), torch.zeros(2, 4, dtype=torch.long), "ids.onnx")
    name = ids.get_inputs()[0].name
    assert ids.get_inputs()[0].type == "tensor(int64)"
    with pytest.raises(
        Exception, match=r"tensor\(int32\)\) , expected: \(tensor\(int64"
    ):
        ids.run(None, {name: np.zeros((2, 4), np.int32)})
    ids.run(None, {name: np.zeros((2, 4), np.int32).astype(np.int64)})
    half = export(nn.Linear(3, 2).half(), torch.ones(2, 3).half(), "half.onnx")
    name = half.get_inputs()[0].name
    assert half.get_inputs()[0].type == "tensor(float16)"
    (output,) = half.run(None, {name: np.ones((2, 3), np.float16)})
    assert output.dtype == np.float16


def test_shapes(session, run):
    x = run["images"].astype(np.float32)
    with raises_as_documented(
        PAGE, "InvalidArgument: [ONNXRuntimeError] : 2 : INVALID_ARGUMENT : Got invalid"
    ):
        session.run(None, {"input": x.transpose(0, 2, 3, 1)})
    nhwc = x.transpose(0, 2, 3, 1)
    (output,) = session.run(None, {"input": nhwc.transpose(0, 3, 1, 2)})
    np.testing.assert_array_equal(output, run["output"])
    with raises_as_documented(
        PAGE,
        "InvalidArgument: [ONNXRuntimeError] : 2 : INVALID_ARGUMENT : Invalid rank",
    ):
        session.run(None, {"input": x[0]})
    (output,) = session.run(None, {"input": x[0][None]})
    np.testing.assert_allclose(output[0], run["output"][0], rtol=1e-5)


def test_names(session, run):
    x = run["images"].astype(np.float32)
    with raises_as_documented(PAGE, "ValueError: Required inputs"):
        session.run(None, {"image": x})
    with raises_as_documented(
        PAGE,
        "InvalidArgument: [ONNXRuntimeError] : 2 : INVALID_ARGUMENT : Invalid input",
    ):
        session.run(None, {"input": x, "mask": x})
    with raises_as_documented(
        PAGE,
        "InvalidArgument: [ONNXRuntimeError] : 2 : INVALID_ARGUMENT : Invalid output",
    ):
        session.run(["logits"], {"input": x})


def test_files(run, tmp_path):
    big = nn.Linear(100, 400).eval()
    torch.onnx.export(big, (torch.ones(2, 100),), "big.onnx", verbose=False)
    (tmp_path / "elsewhere").mkdir()
    shutil.copy("big.onnx", "elsewhere")
    with raises_as_documented(PAGE, "Fail: [ONNXRuntimeError] : 1 : FAIL : External"):
        onnxruntime.InferenceSession("elsewhere/big.onnx")
    shutil.copy("big.onnx.data", "elsewhere")
    onnxruntime.InferenceSession("elsewhere/big.onnx")
    (tmp_path / "model.bin").write_text("version https://git-lfs.github.com/spec/v1")
    with pytest.raises(Exception, match="Protobuf parsing failed") as caught:
        onnxruntime.InferenceSession("model.bin")
    assert_documented(PAGE, "Protobuf", str(caught.value).split("failed:")[1])


def test_versions(run):
    model = onnx.load("model.onnx")
    model.ir_version = 99
    with pytest.raises(Exception, match="Unsupported model IR") as caught:
        onnxruntime.InferenceSession(model.SerializeToString())
    said = str(caught.value)
    assert_documented(PAGE, "Unsupported model IR", said[said.index("Unsupported") :])
    model.ir_version = 8
    onnxruntime.InferenceSession(model.SerializeToString())
    model.opset_import[0].version = 99
    with pytest.raises(Exception, match="official released onnx opset") as caught:
        onnxruntime.InferenceSession(model.SerializeToString())
    said = str(caught.value)
    assert_documented(
        PAGE, "ONNX Runtime only", said[said.index("ONNX Runtime only") :]
    )


def test_threads(run):
    options = onnxruntime.SessionOptions()
    assert options.intra_op_num_threads == 0  # it chooses
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession("model.onnx", options)
    x = run["images"].astype(np.float32)
    np.testing.assert_allclose(
        session.run(None, {"input": x})[0], run["output"], rtol=1e-5
    )
