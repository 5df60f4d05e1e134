"""Find the module that first gives NaN or inf."""

from functools import partial

import torch
from torch import nn


def check_outputs(model):
    """Make the first module whose output holds NaN or inf raise an error.

    Returns the hooks' handles; call remove() on each to end the checks.
    """

    def check(name, module, args, output):
        if isinstance(output, dict):  # as the models of Transformers return
            output = tuple(output.values())
        outputs = output if isinstance(output, tuple) else (output,)
        for out in outputs:
            if torch.is_tensor(out) and not out.isfinite().all():
                raise FloatingPointError(f"NaN or inf from {name}: {module}")

    modules = model.named_modules(prefix="model")
    return [m.register_forward_hook(partial(check, n)) for n, m in modules]


if __name__ == "__main__":
    model = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 2))
    nn.init.constant_(model[2].weight, float("inf"))  # as after a bad step
    handles = check_outputs(model)
    try:
        model(torch.ones(1, 2))
    except FloatingPointError as error:
        print(error)
    for handle in handles:
        handle.remove()
