"""Initialise a ReLU network by layer type."""

import torch
from torch import nn


def init_weights(module):
    """Initialise one module; model.apply(init_weights) reaches all of them."""
    norms = nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.GroupNorm
    if isinstance(module, (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
        if module.bias is not None:
            nn.init.zeros_(module.bias)
    elif isinstance(module, (*norms, nn.LayerNorm)):
        module.reset_parameters()  # weight 1, bias 0
    elif isinstance(module, (nn.LSTM, nn.GRU)):
        for name, p in module.named_parameters():
            if "bias" in name:
                nn.init.zeros_(p)
            elif "weight_hh" in name:  # from step to step
                nn.init.orthogonal_(p)
            else:
                nn.init.xavier_uniform_(p)


if __name__ == "__main__":
    torch.manual_seed(0)
    layers = [nn.Sequential(nn.Linear(64, 64), nn.ReLU()) for _ in range(20)]
    model = nn.Sequential(nn.BatchNorm1d(64), *layers)
    x = torch.randn(256, 64)
    print(f"by default, the outputs vary by {model(x).std(dim=0).mean():.0e}")
    model.apply(init_weights)  # the function itself, without ()
    print(f"initialised, they vary by {model(x).std(dim=0).mean():.1f}")
    lstm = nn.LSTM(64, 64).apply(init_weights)
    assert not lstm.bias_hh_l0.any()
