"""Measure a float32 product on a GPU, without and with TF32."""

import torch
from torch.utils.benchmark import Timer

a = torch.randn(4096, 4096, device="cuda")
b = torch.randn(4096, 4096, device="cuda")
exact = a.double() @ b.double()

seconds, errors = {}, {}
for precision in ("highest", "high"):  # float32, TF32
    torch.set_float32_matmul_precision(precision)
    timer = Timer("a @ b", globals={"a": a, "b": b})
    seconds[precision] = timer.blocked_autorange().median
    errors[precision] = (a @ b - exact).abs().max().item()
assert errors["highest"] <= errors["high"]  # equal before Ampere
