"""Run a model fast on a CPU: threads, bfloat16 where the CPU has it."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(1024, 1024), nn.GELU(), nn.Linear(1024, 8))
x = torch.randn(4, 1024)
original = copy.deepcopy(model), x

torch.set_num_threads(1)  # physical cores / processes on this machine
model.eval()
cpu = torch.cpu.get_capabilities()  # its instructions; bf16: on ARM
if any(cpu.get(k) for k in ("avx512_bf16", "amx_bf16", "bf16")):
    model, x = model.bfloat16(), x.bfloat16()
with torch.inference_mode():
    y = model(x).float()

model, x = original
torch.testing.assert_close(y, model(x), rtol=0.05, atol=0.05)
