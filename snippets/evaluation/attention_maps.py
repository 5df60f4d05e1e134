"""Attention maps: which tokens each token of a transformer looks at."""

import torch
from torch import nn
from torchvision.models import VisionTransformer

torch.manual_seed(0)
model = VisionTransformer(32, 8, 2, 4, 16, 32)  # yours: vit_b_16()
x = torch.rand(3, 3, 32, 32)


def ask(module, args, kwargs):
    """Ask the layer for its weights."""
    return args, kwargs | {"need_weights": True, "average_attn_weights": False}


def keep(module, args, output):
    """Keep the weights."""
    maps.append(output[1])  # (N, heads, L, S)


maps, hooks = [], []
for layer in model.modules():
    if isinstance(layer, nn.MultiheadAttention):
        hooks.append(layer.register_forward_pre_hook(ask, with_kwargs=True))
        hooks.append(layer.register_forward_hook(keep))
model.eval()  # without dropout
with torch.no_grad():
    model(x)
for hook in hooks:
    hook.remove()  # or the next call would add to the maps

print(len(maps), "layers,", tuple(maps[-1].shape))  # (N, heads, L, S)
cls = maps[-1].detach().mean(1)[:, 0, 1:]  # class token to patches
grid = cls.unflatten(1, (4, 4))  # 32 / 8 rows and columns
heat = nn.functional.interpolate(grid[:, None], x.shape[2:], mode="bilinear")
print(tuple(heat.shape))  # plt.imshow(heat[0, 0], alpha=0.5), over the image
