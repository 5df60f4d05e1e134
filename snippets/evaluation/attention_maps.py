"""Attention maps: which tokens each token of a transformer looks at."""

import torch
from torch import nn
from torchvision.models import VisionTransformer

torch.manual_seed(0)
model = VisionTransformer(32, 8, 2, 4, 16, 32).eval()  # yours: vit_b_16()
x = torch.rand(3, 3, 32, 32)

maps, wanted = [], {"need_weights": True, "average_attn_weights": False}
for layer in model.modules():
    if isinstance(layer, nn.MultiheadAttention):
        layer.register_forward_pre_hook(
            lambda _, args, kwargs: (args, kwargs | wanted), with_kwargs=True
        )
        layer.register_forward_hook(lambda *call: maps.append(call[2][1]))
model(x)
print(len(maps), "layers,", tuple(maps[-1].shape))  # (N, heads, L, S)
cls = maps[-1].detach().mean(1)[:, 0, 1:]  # class token to patches
grid = cls.unflatten(1, (4, 4))  # 32 / 8 rows and columns
heat = nn.functional.interpolate(grid[:, None], x.shape[2:], mode="bilinear")
print(tuple(heat.shape))  # plt.imshow(heat[0, 0], alpha=0.5), over the image
