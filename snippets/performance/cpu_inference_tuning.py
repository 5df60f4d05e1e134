"""Run a model fast on a CPU: in bfloat16 where the CPU multiplies in it."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(1024, 1024), nn.GELU(), nn.Linear(1024, 8))
x = torch.randn(4, 1024)
expected = model(x).detach()

model.eval()
cpu = getattr(torch.cpu, "get_capabilities", dict)()  # {} in older torch
fast = any(cpu.get(k) for k in ("avx512_bf16", "amx_bf16", "bf16"))
dtype = torch.bfloat16 if fast else torch.float32
model = model.to(dtype)
x = x.to(dtype) if x.is_floating_point() else x  # token ids stay integers
with torch.inference_mode():
    y = model(x).float()

torch.testing.assert_close(y, expected, rtol=0.05, atol=0.05)
