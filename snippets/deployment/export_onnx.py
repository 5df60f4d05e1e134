"""Export a model to one ONNX file that takes batches of any size."""

import onnxruntime
import torch
from torch import nn


def export_onnx(model: nn.Module, example: torch.Tensor, path: str) -> None:
    """Write model(example), in evaluation mode, as an ONNX graph.

    Args:
        model: takes and returns one tensor; stays in evaluation mode.
        example: (N, ...), on the model's device; only N will be free.
        path: of the file; weights above 1.5 GB go into a second one.

    Source: https://docs.pytorch.org/docs/stable/onnx_export.html
    """
    torch.onnx.export(
        model.eval(),  # else dropout stays at work in the file
        (example,),
        path,
        input_names=["input"],
        output_names=["output"],
        dynamic_shapes=({0: "batch"},),  # one entry per input
        external_data=False,  # True: weights in a second file
        verbose=False,
    )


@torch.inference_mode()
def check_onnx(model: nn.Module, path: str, x: torch.Tensor) -> None:
    """Compare the file, run by ONNX Runtime, with the model on x, (N, ...).

    Raises:
        AssertionError: they differ by more than rounding explains.
    """
    session = onnxruntime.InferenceSession(
        path, providers=["CPUExecutionProvider"]
    )
    (output,) = session.run(None, {"input": x.numpy(force=True)})
    expected = model(x).cpu()
    torch.testing.assert_close(
        torch.from_numpy(output), expected, rtol=1e-3, atol=1e-5
    )


if __name__ == "__main__":
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(), nn.Linear(8, 5),
    )  # fmt: skip
    export_onnx(model, torch.randn(2, 3, 16, 16), "model.onnx")
    for N in (1, 2, 7):  # more than the size it was exported with
        check_onnx(model, "model.onnx", torch.randn(N, 3, 16, 16))
    print("ONNX Runtime agrees for batches of 1, 2 and 7")
