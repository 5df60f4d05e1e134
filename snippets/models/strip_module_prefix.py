"""Load weights saved from inside DataParallel, DDP or torch.compile."""

import torch
from torch import nn

PREFIXES = ("module.", "_orig_mod.")  # DataParallel and DDP; torch.compile


def strip_prefixes(
    state_dict: dict[str, torch.Tensor], model: nn.Module
) -> dict[str, torch.Tensor]:
    """Rename the keys of a wrapped model to those of the bare model.

    Only the front of a key is cut, as often as it is wrapped, and never a
    key that the model has as it stands.

    Args:
        state_dict: it is not changed.
        model: the bare model that is to load the result.

    Source: torch.nn.modules.utils.consume_prefix_in_state_dict_if_present
    """
    own, bare = model.state_dict(), {}
    for key, value in state_dict.items():
        while key not in own and key.startswith(PREFIXES):
            key = key.partition(".")[2]
        bare[key] = value
    return bare


if __name__ == "__main__":
    submodule = nn.ModuleDict({"submodule": nn.Linear(4, 2)})
    model = nn.ModuleDict({"encoder": submodule})
    wrapped = nn.DataParallel(model)
    # Saving wrapped.module.state_dict() would have been better.
    torch.save(wrapped.state_dict(), "weights.pt")

    weights = torch.load("weights.pt", map_location="cpu", weights_only=True)
    bare = strip_prefixes(weights, model)
    model.load_state_dict(bare)  # strict: every key has to be right

    for before, after in zip(weights, bare, strict=True):
        print(before, "->", after)
    assert list(bare) == ["encoder.submodule.weight", "encoder.submodule.bias"]
