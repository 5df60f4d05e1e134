"""Run several models of one class in a single call."""

import copy

import torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap

torch.manual_seed(0)
models = [nn.Sequential(nn.Linear(4, 3)).eval() for _ in range(5)]
x = torch.randn(6, 4)  # (N, D)

params, buffers = stack_module_state(models)  # a leading dimension M
base = copy.deepcopy(models[0]).to("meta")  # the code without the weights


def call(params, buffers):
    """Run one of the models: functional, for vmap."""
    return functional_call(base, (params, buffers), (x,))


with torch.no_grad():
    logits = vmap(call)(params, buffers)  # (M, N, C)
    loop = torch.stack([model(x) for model in models])
torch.testing.assert_close(logits, loop)
print(tuple(logits.shape))
