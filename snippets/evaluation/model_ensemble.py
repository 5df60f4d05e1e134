"""Average the probabilities of several trained models."""

import copy

import torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap

torch.manual_seed(0)
models = [nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8)) for _ in range(3)]
x = torch.randn(6, 4)  # (N, D)

for model in models:
    model.eval()
with torch.inference_mode():
    probs = torch.stack([model(x).softmax(1) for model in models]).mean(0)
predicted = probs.argmax(1)  # (N,)

# The same in one call, for models of one class with the same shapes.
params, buffers = stack_module_state(models)  # a leading dimension M
base = copy.deepcopy(models[0]).to("meta")  # the code without the weights


def call(params, buffers):
    """Run one of the models: functional, for vmap."""
    return functional_call(base, (params, buffers), (x,))


with torch.no_grad():
    logits = vmap(call)(params, buffers)  # (M, N, C)
torch.testing.assert_close(logits.softmax(2).mean(0), probs)
print(tuple(logits.shape), tuple(probs.shape))
