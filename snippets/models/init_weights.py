"""Initialise a model by layer type, for layers that ReLU follows."""

import torch
from torch import nn
from torch.nn import init

LAYERS = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)
TRANSPOSED = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
NORMS += (nn.GroupNorm, nn.LayerNorm)


@torch.no_grad()
def init_weights(module: nn.Module) -> None:
    """Initialise one module; ``model.apply(init_weights)`` reaches all.

    Linear and convolution: normal with variance 2 / fan_in. Embedding:
    normal with std 0.02, its padding row 0. Norm: 1. Biases: 0. Any other
    module, and any weight that is None, is left alone.

    Source: He et al. 2015, section 2.2, https://arxiv.org/abs/1502.01852
    """
    if isinstance(module, LAYERS):
        init.kaiming_normal_(module.weight, nonlinearity="relu")
    elif isinstance(module, TRANSPOSED):
        for part in module.weight.chunk(module.groups):  # (in, out, ...) each
            init.kaiming_normal_(part.transpose(0, 1), nonlinearity="relu")
    elif isinstance(module, NORMS) and module.weight is not None:
        init.ones_(module.weight)
    elif isinstance(module, nn.Embedding):
        init.normal_(module.weight, std=0.02)
        if module.padding_idx is not None:
            module.weight[module.padding_idx] = 0

    with_bias = isinstance(module, (*LAYERS, *TRANSPOSED, *NORMS))
    if with_bias and module.bias is not None:
        init.zeros_(module.bias)


if __name__ == "__main__":
    torch.manual_seed(0)
    blocks = [nn.Sequential(nn.Linear(64, 64), nn.ReLU()) for _ in range(20)]
    model = nn.Sequential(*blocks)
    x = torch.randn(256, 64)
    by_default = model(x).std(dim=0).mean()  # how far the outputs differ

    model.apply(init_weights)  # the function itself, without parentheses
    spread = model(x).std(dim=0).mean()

    assert by_default < 1e-6
    assert spread > 0.01
    print("20 layers deep: by default all inputs end up the same, here not")
