"""Load weights that PaddlePaddle saved into the same model in PyTorch."""

import numpy as np
import torch
from torch import nn


def load_paddle(model: nn.Module, arrays: dict[str, np.ndarray]) -> None:
    """Copy the arrays of a Paddle state dict into a model of equal names.

    Give the model's batch norms Paddle's epsilon as eps and, for further
    training, 1 - Paddle's momentum. Raises KeyError or RuntimeError where
    a name or a shape does not match.
    """
    if any(array.dtype == np.uint16 for array in arrays.values()):
        raise TypeError("bits of bfloat16: save the arrays as float32")
    state = {key: torch.tensor(array) for key, array in arrays.items()}
    for name, module in model.named_modules(remove_duplicate=False):
        if isinstance(module, nn.Linear):  # (in, out) -> (out, in)
            state[f"{name}.weight"] = state[f"{name}.weight"].T
        elif f"{name}._mean" in state:  # batch norm
            state[f"{name}.running_mean"] = state.pop(f"{name}._mean")
            state[f"{name}.running_var"] = state.pop(f"{name}._variance")
    model.load_state_dict(state)  # strict: nothing may be left over


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    x, W, b = rng.random((3, 4)), rng.random((4, 4)), rng.random(4)
    arrays = {"0.weight": W, "0.bias": b}
    arrays |= {"1.weight": np.ones(4), "1.bias": np.zeros(4)}
    arrays |= {"1._mean": np.full(4, 2.0), "1._variance": np.full(4, 8.0)}
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4, eps=1)).double()
    load_paddle(model, arrays)
    y = model.eval()(torch.from_numpy(x))
    expected = (x @ W + b - 2) / 3  # W is (in, out), as Paddle has it
    torch.testing.assert_close(y, torch.from_numpy(expected))
