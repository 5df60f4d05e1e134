"""Export a model for TensorRT and check it at the sizes to build for."""

import onnxruntime
import torch
from torch import nn

torch.manual_seed(0)
layers = [nn.Conv2d(3, 8, 3, stride=4), nn.ReLU(), nn.AdaptiveAvgPool2d(1)]
model = nn.Sequential(*layers, nn.Flatten(), nn.Linear(8, 5))
program = torch.onnx.export(
    model.eval(),
    (torch.randn(2, 3, 224, 224),),
    dynamic_shapes=({0: "batch"},),  # or the engine takes only this size
    input_names=["input"],  # as in --minShapes=input:...
    dynamo=True,  # the default from torch 2.9 on
    verbose=False,
)
program.save("model.onnx")

session = onnxruntime.InferenceSession("model.onnx")
print(session.get_inputs()[0].name, session.get_inputs()[0].shape)
for N in 1, 8, 32:  # min, opt and max
    x = torch.randn(N, 3, 224, 224)
    (output,) = session.run(None, {"input": x.numpy()})
    torch.testing.assert_close(torch.from_numpy(output), model(x).detach())
