"""tensorboard-logging: its own reader and server against what was logged."""

import io
import json
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import psutil
import pytest
import tensorboard
import torch
from PIL import Image
from tensorboard import notebook
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto import tensor_shape_pb2
from torch import nn
from torch.utils.tensorboard import SummaryWriter

from tests.helpers import load_snippet, quoted, raises_as_documented, recipes

PAGE = "training/tensorboard-logging"
ANSWER = recipes()["tensorboard-logging"].answer
PROGRAM = [sys.executable, "-m", "tensorboard.main"]


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def read(folder):
    return EventAccumulator(str(folder), {"histograms": 0}).Reload()  # 0: all


def scalars(folder, tag):
    return [(e.step, pytest.approx(e.value)) for e in read(folder).Scalars(tag)]


def image(folder, tag):
    data = read(folder).Images(tag)[-1].encoded_image_string
    return np.asarray(Image.open(io.BytesIO(data)))


@contextmanager
def serving(*options):
    """Where TensorBoard serves runs, and on which addresses it listens."""
    command = [*PROGRAM, "--logdir", "runs", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            for line in process.stderr:
                if " at http" in line:
                    found = psutil.Process(process.pid).net_connections("tcp")
                    listening = {c.laddr.ip for c in found if c.status == "LISTEN"}
                    yield line.split(" at ")[1].split()[0], listening
                    break
            else:
                pytest.fail("TensorBoard did not start")
        finally:
            process.kill()  # asked to end, it once never did


def test_the_answer():
    images, model = torch.rand(4, 3, 5, 6), nn.Linear(2, 3)
    losses = [0.5, 0.25, 0.125, 0.0625, 0.5]
    left = iter(losses)
    names = {"images": images, "model": model, "train_one_epoch": lambda: next(left)}
    exec(ANSWER.text, names)
    assert scalars("runs/lr=0.1", "loss/train") == [*enumerate(losses)]
    found = image("runs/lr=0.1", "input")  # four side by side
    expected = (torch.cat([*images], dim=2) * 255).byte().permute(1, 2, 0)
    np.testing.assert_array_equal(found, expected)
    events = read("runs/lr=0.1").Histograms("weight")
    assert [e.step for e in events] == [0, 1, 2, 3, 4]
    last = events[-1].histogram_value
    assert last.num == 6
    assert last.min == pytest.approx(model.weight.min().item())


def test_the_demonstration(capsys):
    load_snippet("training/tensorboard_logging.py")
    assert capsys.readouterr().out == "['input'] [0, 1, 2, 3, 4]\n"
    found = [value.expected for _, value in scalars("runs/lr=0.1", "loss/train")]
    assert found == sorted(found, reverse=True)


def test_closed_after_an_exception():
    writer = SummaryWriter("runs/a")
    writer.add_scalar("a", 0.5, 1)
    with pytest.raises(ZeroDivisionError), writer:
        raise ZeroDivisionError
    assert scalars("runs/a", "a") == [(1, 0.5)]


def test_written_by_flush_or_close():
    writer = SummaryWriter("runs/b")
    writer.add_scalar("a", 0.5, 1)
    writer.flush()
    assert scalars("runs/b", "a") == [(1, 0.5)]
    assert writer.flush_secs == 120
    writer.close()


def test_served_and_inspected():
    with SummaryWriter("runs/a") as writer:
        writer.add_scalar("loss/train", 0.5, 1)
    with serving("--port", "0") as (address, listening):
        assert listening <= {"127.0.0.1", "::1"}
        assert address.startswith("http://localhost:")
        runs = {}
        while not runs:  # it reads the files while it already answers
            time.sleep(0.1)
            with urllib.request.urlopen(f"{address}data/plugin/scalars/tags") as page:
                runs = json.load(page)
        assert runs["a"].keys() == {"loss/train"}
        port = address.rstrip("/").rpartition(":")[2]
        second = [*PROGRAM, "--logdir", "runs", "--port", port]
        other = subprocess.run(second, capture_output=True, text=True, check=False)
        assert quoted(PAGE, "TensorFlow installation not found") in other.stderr
        message = quoted(PAGE, "ERROR: TensorBoard could not bind").replace(
            "6006", port
        )
        assert other.returncode != 0
        assert message in other.stderr + other.stdout
    command = [*PROGRAM, "--inspect", "--logdir", "runs"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "loss/train" in shown.stdout


def test_served_to_the_network():
    Path("runs").mkdir()
    with serving("--port", "0", "--bind_all") as (_, listening):
        assert listening & {"0.0.0.0", "::"}


def test_how_many_are_kept():
    plugins = Path(tensorboard.__file__).parent / "plugins"
    for path, number in (("image/images", 10), ("scalar/scalars", 1000)):
        source = (plugins / f"{path}_plugin.py").read_text("utf-8")
        assert f"\n_DEFAULT_DOWNSAMPLING = {number}  #" in source


def test_the_magic_of_a_notebook():
    class Shell:
        def register_magic_function(self, function, magic_kind, magic_name):
            self.found = function, magic_kind, magic_name

    shell = Shell()
    tensorboard.load_ipython_extension(shell)
    assert shell.found == (notebook._start_magic, "line", "tensorboard")


def test_purge_step_hides_what_came_after_the_checkpoint():
    with SummaryWriter("runs/c") as writer:
        for step in range(5):
            writer.add_scalar("a", 0.0, step)
    with SummaryWriter("runs/c", purge_step=3) as writer:
        writer.add_scalar("a", 1.0, 3)
    assert scalars("runs/c", "a") == [(0, 0), (1, 0), (2, 0), (3, 1)]


def test_the_range_of_an_image():
    mask = torch.tensor([[[0, 1], [2, 4]]])
    with SummaryWriter("runs/d") as writer:
        writer.add_image("int64", mask, 0)
        writer.add_image("uint8", mask.byte() * 50, 0)
        writer.add_image("of 255", mask * 50.0, 0)
        writer.add_image("share", mask / mask.max(), 0)
        writer.add_image("normalized", mask - 3.0, 0)
    for tag, expected in (
        ("int64", [0, 255, 255, 255]),
        ("uint8", [0, 50, 100, 200]),
        ("of 255", [0, 255, 255, 255]),
        ("share", [0, 63, 127, 255]),
        ("normalized", [0, 0, 0, 255]),
    ):
        assert image("runs/d", tag)[..., 0].flatten().tolist() == expected


def test_the_variants():
    with SummaryWriter("runs/e") as writer:
        writer.add_scalars("loss", {"train": 0.5, "val": 0.75}, 0)
        fig, _ = plt.subplots()
        writer.add_figure("confusion", fig, 0)
        assert not plt.fignum_exists(fig.number)
        writer.add_hparams({"lr": 0.1}, {"accuracy": 0.5}, run_name=".")
    folders = {path.name for path in Path("runs/e").iterdir() if path.is_dir()}
    assert folders == {"loss_train", "loss_val"}
    assert scalars("runs/e/loss_val", "loss") == [(0, 0.75)]
    with SummaryWriter("runs/e") as writer:
        writer.add_hparams({"lr": 0.1}, {"accuracy": 0.5})
    assert len([path for path in Path("runs/e").iterdir() if path.is_dir()]) == 3


def test_a_newer_tensorboard_does_without_pkg_resources():
    source = Path(tensorboard.__file__).with_name("default.py").read_text("utf-8")
    assert "pkg_resources" not in source
    version = tuple(map(int, tensorboard.__version__.split(".")[:2]))
    assert version > (2, 20)


def test_protobuf_refuses_what_an_old_compiler_has_generated():
    """As tensorboard/compat/proto/tensor_shape_pb2.py of an old TensorBoard."""
    start = "TypeError: Descriptors cannot be created"
    options = {"message_type": None, "enum_type": None, "containing_type": None}
    with raises_as_documented(PAGE, start):
        tensor_shape_pb2._descriptor.FieldDescriptor(
            name="size",
            full_name="tensorboard.TensorShapeProto.Dim.size",
            index=0,
            number=1,
            type=3,
            cpp_type=2,
            label=1,
            default_value=0,
            is_extension=False,
            extension_scope=None,
            **options,
        )


@pytest.mark.filterwarnings("ignore:`torch.jit.trace")
def test_the_graph_of_the_layers():
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU())
    with SummaryWriter("runs/g") as writer:
        writer.add_graph(model, torch.rand(2, 3, 8, 8))
    kinds = {node.op for node in read("runs/g").Graph().node}
    assert {"aten::_convolution", "aten::relu"} <= kinds


def test_the_documented_errors():
    with SummaryWriter("runs/f") as writer:
        losses = torch.tensor([1.0, 2.0])
        with raises_as_documented(PAGE, "AssertionError: Tensor should contain"):
            writer.add_scalar("a", losses, 0)
        writer.add_scalar("a", losses.mean(), 0)
        batch = torch.rand(2, 3, 8, 8)
        start = "AssertionError: size of input tensor"
        with raises_as_documented(PAGE, start):
            writer.add_image("b", batch, 0)
        with raises_as_documented(PAGE, start):
            writer.add_images("b", batch[0], 0)
        writer.add_image("b", batch[0, 0], 0, dataformats="HW")
        image = torch.rand(8, 8, 3)
        with raises_as_documented(PAGE, "TypeError: Cannot handle this data type"):
            writer.add_image("b", image, 0)
        writer.add_image("b", image, 0, dataformats="HWC")
        features = torch.rand(2, 5, 8, 8)
        with raises_as_documented(PAGE, "AssertionError: Input should be a 4D"):
            writer.add_images("b", features, 0)
        writer.add_images("b", features[:, :1], 0)
        frozen = nn.Linear(2, 2).requires_grad_(False)
        with raises_as_documented(PAGE, "NotImplementedError: Got <class 'NoneType'>"):
            writer.add_histogram("c", frozen.weight.grad, 0)
        with raises_as_documented(PAGE, "ValueError: The histogram is empty"):
            writer.add_histogram("c", torch.full((4,), float("nan")), 0)
    assert scalars("runs/f", "a") == [(0, 1.5)]
