"""Export a model to one ONNX file that takes batches of any size."""

import onnxruntime
import torch
from torch import nn

torch.manual_seed(0)
layers = [nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Dropout()]
model = nn.Sequential(*layers, nn.Flatten(), nn.Linear(8 * 6 * 6, 5))

program = torch.onnx.export(
    model.eval(),  # or dropout stays at work in the file
    (torch.randn(2, 3, 8, 8),),  # yours: an example batch of two or more
    dynamic_shapes=({0: "batch"},),  # any batch size
    input_names=["input"],
    dynamo=True,  # the default from torch 2.9 on
    verbose=False,
)
program.save("model.onnx")  # one file, weights included

session = onnxruntime.InferenceSession("model.onnx")
print(session.get_inputs()[0].shape)
for N in 1, 2, 7:  # not only the size of the example
    x = torch.randn(N, 3, 8, 8)
    (output,) = session.run(None, {"input": x.numpy()})
    torch.testing.assert_close(torch.from_numpy(output), model(x).detach())
