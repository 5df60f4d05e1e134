"""Run an ONNX file with ONNX Runtime, on the GPU where it can."""

import numpy as np
import onnxruntime
import torch
from torch import nn

net = nn.Sequential(nn.Flatten(), nn.Linear(192, 5)).eval()
options = {"dynamic_shapes": ({0: "batch"},), "dynamo": True, "verbose": False}
program = torch.onnx.export(net, (torch.randn(2, 3, 8, 8),), **options)
program.save("model.onnx")  # yours: any .onnx file
images = np.random.rand(4, 3, 8, 8)  # (N, C, H, W), prepared as in training

wanted = ["CUDAExecutionProvider", "CPUExecutionProvider"]
available = onnxruntime.get_available_providers()
providers = [p for p in wanted if p in available]
session = onnxruntime.InferenceSession("model.onnx", providers=providers)
print(session.get_providers())  # those in use
name = session.get_inputs()[0].name
(output,) = session.run(None, {name: images.astype(np.float32)})

expected = net(torch.from_numpy(images).float()).detach()
torch.testing.assert_close(torch.from_numpy(output), expected)
print([(i.name, i.shape, i.type) for i in session.get_inputs()])
