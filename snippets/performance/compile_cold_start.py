"""Compile the repeated block, not the whole model: less work at the start."""

import torch
from torch import nn
from torch._dynamo.testing import CompileCounter


class Block(nn.Module):
    """One of many that are alike."""

    def __init__(self, n_embd):
        super().__init__()
        self.linear = nn.Linear(n_embd, n_embd)

    def forward(self, x):
        return x + self.linear(x).relu()


class Model(nn.Module):
    """The same block, again and again."""

    def __init__(self, n_layer=12, n_embd=16):
        super().__init__()
        self.blocks = nn.ModuleList(Block(n_embd) for _ in range(n_layer))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def count(model):
    """Count the operations that a first call would compile."""
    counter = CompileCounter()
    with torch.compiler.set_stance(force_backend=counter), torch.no_grad():
        model(torch.randn(2, 16))
    return counter.op_count


if __name__ == "__main__":
    whole, model = Model(), Model()
    whole.compile()
    for block in model.blocks:
        block.compile()  # compiled once; the other blocks use the same code
    print(f"operations: {count(whole)}, by blocks {count(model)}")
