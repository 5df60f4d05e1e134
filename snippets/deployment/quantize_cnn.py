"""Quantize a convolutional network to int8, calibrated on training images."""

from itertools import islice
from pathlib import Path

import onnxruntime
import torch
from onnxruntime.quantization import QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
digits = load_digits()
images = torch.tensor(digits.images / 16, dtype=torch.float32)[:, None]
labels = torch.tensor(digits.target)  # (N,); images: (N, 1, 8, 8)
batches = zip(images[:1200].split(60), labels[:1200].split(60), strict=True)
loader = list(batches)

layers = [nn.Conv2d(1, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU()]
layers += [nn.Conv2d(64, 128, 3, padding=1), nn.BatchNorm2d(128), nn.ReLU()]
layers += [nn.MaxPool2d(2), nn.Flatten(), nn.Linear(2048, 10)]
model = nn.Sequential(*layers)
optimizer = torch.optim.Adam(model.parameters(), lr=0.002)
for x, y in loader * 2:
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()

sizes, names = ({0: "batch"},), ["input"]
program = torch.onnx.export(
    model.eval(), (x,), dynamic_shapes=sizes, input_names=names, verbose=False
)
program.save("float.onnx")


class Calibration:
    """Hands out batches as the inputs of the ONNX model."""

    def __init__(self, loader, n=10):
        self.inputs = ({"input": x.numpy()} for x, _ in islice(loader, n))

    def get_next(self):
        return next(self.inputs, None)  # None: no more


quant_pre_process("float.onnx", "merged.onnx")  # norms are merged
kinds = {"activation_type": QuantType.QUInt8, "weight_type": QuantType.QInt8}
safe = {"per_channel": True, "reduce_range": True}  # for any CPU
quantize_static(
    "merged.onnx", "int8.onnx", Calibration(loader), **kinds, **safe
)

for path in "float.onnx", "int8.onnx":
    size = Path(path).stat().st_size / 1e3
    session = onnxruntime.InferenceSession(path)
    (logits,) = session.run(None, {"input": images[1200:].numpy()})
    right = torch.tensor(logits).argmax(1) == labels[1200:]
    print(f"{path}: {size:.0f} kB, accuracy {right.float().mean():.2f}")
