"""Load the weights that fit a changed model, and know which did not."""

from collections import OrderedDict

import torch
from torch import nn


def load_matching(
    model: nn.Module, state_dict: dict[str, torch.Tensor]
) -> tuple[list[str], list[str]]:
    """Copy each tensor whose key and shape the model has too.

    Args:
        model: changed in place.
        state_dict: of another model; it is not changed.

    Returns:
        (missing, unused): keys of the model that kept their old values, and
        keys of the state dict left out because of their name or shape.

    Raises:
        ValueError: nothing fits; the model is unchanged.

    Source: torch.nn.Module.load_state_dict in the PyTorch reference
    """
    own = model.state_dict()
    fitting = {
        key: value
        for key, value in state_dict.items()
        if key in own and value.shape == own[key].shape
    }
    if not fitting:
        ours, theirs = list(own)[:3], list(state_dict)[:3]
        raise ValueError(f"nothing fits: model {ours}, state dict {theirs}")
    model.load_state_dict(fitting, strict=False)
    missing = [key for key in own if key not in fitting]
    return missing, [key for key in state_dict if key not in fitting]


def classifier(num_classes: int) -> nn.Module:
    """Map (N, 8) to logits, (N, num_classes)."""
    body, head = nn.Linear(8, 16), nn.Linear(16, num_classes)
    return nn.Sequential(OrderedDict(body=body, act=nn.ReLU(), head=head))


if __name__ == "__main__":
    pretrained, model = classifier(1000), classifier(5)
    torch.save(pretrained.state_dict(), "pretrained.pt")

    weights = torch.load(
        "pretrained.pt", map_location="cpu", weights_only=True
    )
    missing, unused = load_matching(model, weights)

    # Write down what you expect: a misnamed layer then shows at once.
    assert missing == unused == ["head.weight", "head.bias"]
    assert torch.equal(model.body.weight, pretrained.body.weight)
    print("loaded all but", missing)
