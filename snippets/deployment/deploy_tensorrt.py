"""Prepare a model for TensorRT: an ONNX file and the shapes to build for."""

import onnx
import onnxruntime
import torch
from torch import nn


def export_onnx(model: nn.Module, example: torch.Tensor, path: str) -> None:
    """Write model(example), in evaluation mode; the batch size stays free."""
    torch.onnx.export(
        model.eval(), (example,), path,
        input_names=["input"], output_names=["output"],
        dynamic_shapes=({0: "batch"},),
        external_data=False, verbose=False,
    )  # fmt: skip


def shape_options(
    path: str, sizes: dict[str, tuple[int, int, int]]
) -> list[str]:
    """Return the options that tell trtexec the shapes of an ONNX file.

    Args:
        path: of the file; weights in a second file are not looked at.
        sizes: of each free dimension: smallest, most frequent, largest.

    Returns:
        ["--minShapes=name:1x3x8x8", "--optShapes=...", "--maxShapes=..."];
        inputs of a fixed shape are left out, as trtexec wants it.

    Raises:
        KeyError: a free dimension is not in sizes.
        ValueError: the file has no free dimension.
    """
    graph = onnx.load(path, load_external_data=False).graph
    shapes = {x.name: x.type.tensor_type.shape.dim for x in graph.input}
    options = []
    for k, flag in enumerate(["--minShapes", "--optShapes", "--maxShapes"]):
        values = []
        for name, dims in shapes.items():
            if not all(dim.HasField("dim_value") for dim in dims):
                shape = [d.dim_value or sizes[d.dim_param][k] for d in dims]
                values.append(f"{name}:{'x'.join(map(str, shape))}")
        options.append(f"{flag}={','.join(values)}")
    if not values:
        raise ValueError(f"{path}: every size is fixed, nothing to choose")
    return options


if __name__ == "__main__":
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Dropout())
    export_onnx(model, torch.randn(2, 3, 8, 8), "model.onnx")
    session = onnxruntime.InferenceSession("model.onnx")
    for x in (torch.randn(N, 3, 8, 8) for N in (1, 8, 32)):
        (output,) = session.run(None, {"input": x.numpy()})
        torch.testing.assert_close(torch.from_numpy(output), model(x).detach())
    print(*shape_options("model.onnx", {"batch": (1, 8, 32)}), sep="\n")
