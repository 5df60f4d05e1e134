"""Reorder, split, merge, average and repeat dimensions by their names."""

import torch
import torch.nn.functional as F
from einops import rearrange, reduce, repeat

x = torch.rand(2, 3, 32, 48)  # (B, C, H, W)

nhwc = rearrange(x, "b c h w -> b h w c")  # channels last
patches = rearrange(x, "b c (h p) (w q) -> b (h w) (c p q)", p=16, q=16)
heads = rearrange(patches, "b t (h d) -> b h t d", h=8)  # for attention
merged = rearrange(heads, "b h t d -> b t (h d)")  # and back
mean = reduce(x, "b c h w -> b c", "mean")
pooled = reduce(x, "b c (h p) (w q) -> b c h w", "max", p=2, q=2)
copies = repeat(mean, "b c -> b c h w", h=4, w=4)

assert torch.equal(nhwc, x.permute(0, 2, 3, 1))
assert torch.equal(patches, F.unfold(x, 16, stride=16).mT)
assert torch.equal(heads, patches.unflatten(2, (8, -1)).transpose(1, 2))
assert torch.equal(merged, heads.transpose(1, 2).flatten(2))
torch.testing.assert_close(mean, x.mean(dim=(2, 3)))
assert torch.equal(pooled, F.max_pool2d(x, 2))
assert torch.equal(copies, mean[:, :, None, None].expand(-1, -1, 4, 4))
print("patches", tuple(patches.shape), "heads", tuple(heads.shape))
