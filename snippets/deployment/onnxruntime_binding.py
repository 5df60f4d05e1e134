"""Give torch tensors to ONNX Runtime where they are, on the GPU too."""

import numpy as np
import onnxruntime
import torch
from torch import nn

net, options = nn.Linear(3, 5).eval(), {"dynamo": True, "verbose": False}
torch.onnx.export(net, (torch.randn(2, 3),), **options).save("model.onnx")
wanted = ["CUDAExecutionProvider", "CPUExecutionProvider"]
providers = [p for p in wanted if p in onnxruntime.get_available_providers()]
session = onnxruntime.InferenceSession("model.onnx", providers=providers)

device = "cuda" if wanted[0] in session.get_providers() else "cpu"
x = torch.randn(2, 3, device=device).contiguous()
output = torch.empty(2, 5, device=device)  # to be written
source, result = session.get_inputs()[0].name, session.get_outputs()[0].name
place = device, 0, np.float32
binding = session.io_binding()
binding.bind_input(source, *place, x.shape, x.data_ptr())
binding.bind_output(result, *place, output.shape, output.data_ptr())
session.run_with_iobinding(binding)

torch.testing.assert_close(output, net.to(device)(x).detach())
