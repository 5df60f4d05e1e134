"""Keep activations for the backward elsewhere: on the CPU, or in bfloat16."""

import torch
from torch import nn
from torch.autograd.graph import saved_tensors_hooks


def in_bfloat16(model):
    """Keep float32 activations in bfloat16, not weights or 1-D statistics."""
    weights = {p.untyped_storage().data_ptr() for p in model.parameters()}

    def pack(tensor):
        is_weight = tensor.untyped_storage().data_ptr() in weights
        if is_weight or tensor.dtype != torch.float32 or tensor.dim() < 2:
            return tensor.dtype, tensor.detach()
        return tensor.dtype, tensor.bfloat16()

    def unpack(packed):
        dtype, tensor = packed
        return tensor.to(dtype)

    return saved_tensors_hooks(pack, unpack)


if __name__ == "__main__":
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 10))
    x, y = torch.randn(32, 64), torch.randint(10, (32,))
    loss_fn = nn.CrossEntropyLoss()
    loss_fn(model(x), y).backward()
    expected = model[0].weight.grad.clone()

    model.zero_grad()
    with torch.autograd.graph.save_on_cpu(pin_memory=True):  # the forward
        loss = loss_fn(model(x), y)
    loss.backward()  # copies each tensor back when it needs it
    torch.testing.assert_close(model[0].weight.grad, expected)

    model.zero_grad()
    with in_bfloat16(model):
        loss = loss_fn(model(x), y)
    loss.backward()
    change = (model[0].weight.grad - expected).norm() / expected.norm()
    print("the gradient changes by less than 1 %:", change.item() < 0.01)
