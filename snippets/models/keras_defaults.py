"""Start a network and its optimizer as Keras does by default."""

import torch
from torch import nn

torch.manual_seed(0)
layers = (
    nn.Conv2d(3, 8, 3),
    nn.BatchNorm2d(8),
    nn.Embedding(9, 4, padding_idx=0),
    nn.LayerNorm(4),
)
model = nn.ModuleList(layers)


def keras_defaults(module: nn.Module) -> None:
    """Set one layer to what Keras starts with: for model.apply."""
    if isinstance(module, nn.Linear | nn.Conv1d | nn.Conv2d | nn.Conv3d):
        nn.init.xavier_uniform_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)
    elif isinstance(module, nn.Embedding):
        nn.init.uniform_(module.weight, -0.05, 0.05)
        if module.padding_idx is not None:
            nn.init.zeros_(module.weight[module.padding_idx])
    elif isinstance(module, nn.BatchNorm1d | nn.BatchNorm2d):
        module.eps, module.momentum = 1e-3, 0.01
    elif isinstance(module, nn.LayerNorm):
        module.eps = 1e-3


model.apply(keras_defaults)  # not after pretrained weights were loaded
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, eps=1e-7)

limit = (6 / (3 * 9 + 8 * 9)) ** 0.5  # √(6 / (fan_in + fan_out))
print(f"largest weight {model[0].weight.abs().max():.2f}, limit {limit:.2f}")
