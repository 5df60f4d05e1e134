"""Load weights that PaddlePaddle saved into the same model in PyTorch."""

import numpy as np
import torch
from torch import nn

RENAMED = {
    "_mean": "running_mean", "_variance": "running_var", "_weight": "weight"
}  # fmt: skip


def load_paddle(model: nn.Module, arrays: dict[str, np.ndarray]) -> None:
    """Copy the arrays of a Paddle state dict into a model of equal names.

    Args:
        model: built with eps = Paddle's epsilon and, for further training,
            BatchNorm momentum = 1 - Paddle's (its 0.9 is torch's 0.1).
        arrays: {k: v.numpy() for k, v in paddle.load(path).items()}

    Raises:
        RuntimeError: names or shapes do not match the model's.

    Source: paddle.nn.Linear and BatchNorm2D in the Paddle API reference
    """
    modules = dict(model.named_modules(remove_duplicate=False))
    state = {}
    for name, array in arrays.items():
        path, _, leaf = name.rpartition(".")
        tensor = torch.tensor(array)
        if tensor.dtype == torch.uint16:  # the bits of a bfloat16
            tensor = tensor.view(torch.bfloat16)
        if leaf == "weight" and isinstance(modules.get(path), nn.Linear):
            tensor = tensor.T  # (in, out) -> (out, in); not an embedding's
        state[name.removesuffix(leaf) + RENAMED.get(leaf, leaf)] = tensor
    model.load_state_dict(state)  # fills in num_batches_tracked itself


if __name__ == "__main__":
    rng = np.random.default_rng(0)  # V, D, H = 7, 5, 5 words, features, hidden
    table, W = rng.normal(size=(7, 5)), rng.normal(size=(5, 5))
    b, gamma, beta, mean = rng.normal(size=(4, 5))
    var = rng.uniform(1, 2, size=5)
    words = np.array([0, 6, 3])
    hidden = table[words] @ W + b  # as Paddle multiplies: W is (in, out)
    expected = gamma * (hidden - mean) / np.sqrt(var + 1e-5) + beta

    layers = nn.Embedding(7, 5), nn.Linear(5, 5), nn.BatchNorm1d(5)
    model = nn.Sequential(*layers).double()
    arrays = {
        "0.weight": table, "1.weight": W, "1.bias": b, "2.weight": gamma,
        "2.bias": beta, "2._mean": mean, "2._variance": var,
    }  # fmt: skip
    load_paddle(model, arrays)
    output = model.eval()(torch.from_numpy(words))
    torch.testing.assert_close(output, torch.from_numpy(expected))
    print("same outputs with", ", ".join(dict(model[2].named_buffers())))
