"""Compute float32 matrix products in TF32 on a GPU; what TF32 rounds off."""

import torch

torch.set_float32_matmul_precision("high")  # matrix products in TF32

print(torch.get_float32_matmul_precision(), "for matrix products, and")
print("for convolutions TF32:", torch.backends.cudnn.allow_tf32)

# What TF32 does to the inputs, computed here without a GPU: of the 23 bits
# after the point it keeps 10. The result stays float32.
torch.manual_seed(0)
a, b = torch.randn(256, 256), torch.randn(256, 256)
low = [((x.view(torch.int32) + 0x1000) & ~0x1FFF) for x in (a, b)]
a_tf32, b_tf32 = (bits.view(torch.float32) for bits in low)
print(f"{a[0, 0]:.7f} becomes {a_tf32[0, 0]:.7f}")

exact = a.double() @ b.double()
size = exact.abs().mean()
error = (a_tf32.double() @ b_tf32.double() - exact).abs().max() / size
print(f"largest error of a product: {error:.1e}, in float32 below 1e-5")
torch.set_float32_matmul_precision("highest")  # full float32, the default
assert (a @ b - exact).abs().max() / size < 1e-5
