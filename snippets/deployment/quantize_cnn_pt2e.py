"""Quantize a convolutional network, and stay in PyTorch (PT2E)."""

import torch
from torch import nn
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.quantization.pt2e.quantizer.x86_inductor_quantizer import (
    X86InductorQuantizer,
    get_default_x86_inductor_quantization_config,
)

torch.manual_seed(0)
layers = [nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU()]
model = nn.Sequential(*layers, nn.Flatten(), nn.Linear(576, 10)).eval()
x = torch.randn(8, 3, 8, 8)  # a batch of training images

quantizer = X86InductorQuantizer()
quantizer.set_global(get_default_x86_inductor_quantization_config())
program = torch.export.export(model, (x,), strict=True)  # for repeated layers
prepared = prepare_pt2e(program.module(), quantizer)
prepared(x)  # calibrate; in real code, with ten batches and more
int8 = torch.compile(convert_pt2e(prepared))  # uncompiled, it is slower

with torch.no_grad():
    error = (int8(x) - model(x)).norm() / model(x).norm()
assert error < 0.05
