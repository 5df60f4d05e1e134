"""Fine-tune with LoRA: train two thin matrices beside each frozen layer."""

from collections import OrderedDict

import torch
from torch import nn


class LoRALinear(nn.Module):
    """A frozen nn.Linear plus an update of rank r. Source: Hu et al. 2021."""

    def __init__(self, linear, r=8, alpha=16):
        super().__init__()
        device = linear.weight.device
        self.linear = linear.requires_grad_(False)
        self.A = nn.Linear(linear.in_features, r, bias=False, device=device)
        self.B = nn.Linear(r, linear.out_features, bias=False, device=device)
        nn.init.zeros_(self.B.weight)  # nothing changes at first
        self.scale = alpha / r

    def forward(self, x):
        y = self.linear(x)  # perhaps bfloat16; A and B stay float32
        update = self.B(self.A(x.to(self.A.weight.dtype)))
        return y + (self.scale * update).to(y.dtype)


@torch.no_grad()
def merge_lora(model):
    """Add the updates to the weights, and put the plain layers back."""
    for name, layer in list(model.named_modules()):
        if isinstance(layer, LoRALinear):
            update = layer.B.weight @ layer.A.weight
            layer.linear.weight += layer.scale * update
            model.set_submodule(name, layer.linear)


if __name__ == "__main__":
    model = OrderedDict(q_proj=nn.Linear(64, 64), head=nn.Linear(64, 4))
    model = nn.Sequential(model).bfloat16()  # yours: any model

    model.requires_grad_(False)
    for name, layer in list(model.named_modules()):
        if name.endswith(("q_proj", "v_proj")):  # yours: the layers to adapt
            model.set_submodule(name, LoRALinear(layer))
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=2e-4)  # your lr

    model(torch.randn(8, 64).bfloat16()).square().mean().backward()
    optimizer.step()
    merge_lora(model)
    print(sum(p.numel() for p in trained), "numbers are trained")
