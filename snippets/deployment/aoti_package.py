"""Compile a model ahead of time into one file that C++ and Python can run."""

import torch
from torch import nn
from torch.export import Dim

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3)).eval()
x = torch.randn(2, 8)  # an example batch of two or more, contiguous

program = torch.export.export(
    model,  # in eval mode
    (x,),
    dynamic_shapes=({0: Dim("batch")},),  # any size there
)
torch._inductor.aoti_compile_and_package(program, package_path="model.pt2")
compiled = torch._inductor.aoti_load_package("model.pt2")  # compiles nothing
y = compiled(x.float().contiguous())  # dtype and strides are not checked

with torch.inference_mode():
    for N in 1, 2, 7:
        batch = torch.randn(N, 8)
        torch.testing.assert_close(compiled(batch), model(batch))
