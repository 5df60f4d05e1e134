"""Wait for the device after each layer, and name it: the next one fails."""

import torch
from torch import nn


def wait_after_each_layer(model):
    """Name each layer once it is computed; return the hooks."""

    def waiting(name):
        def hook(module, args, output):
            if torch.cuda.is_available():
                torch.cuda.synchronize()  # an error comes here
            print("done:", name, type(module).__name__)

        return hook

    layers = [(n, m) for n, m in model.named_modules() if not [*m.children()]]
    return [m.register_forward_hook(waiting(n)) for n, m in layers]


if __name__ == "__main__":
    model = nn.Sequential(nn.Flatten(), nn.Embedding(10, 4), nn.Linear(4, 2))
    hooks = wait_after_each_layer(model)
    try:
        model(torch.tensor([[3], [12]]))  # 12 is not in the embedding
    except IndexError as error:
        print("error:", error)
    for hook in hooks:
        hook.remove()
