"""Give each part of a model its own learning rate."""

import copy
from typing import Any

import torch
from torch import nn
from torchvision.models import resnet18


def lr_groups(
    model: nn.Module, lr: float, rates: dict[str, float]
) -> list[dict[str, Any]]:
    """Sort the parameters into groups that an optimizer accepts.

    Args:
        model: frozen parameters are sorted as well, so they can thaw later.
        lr: of all parameters that ``rates`` does not name.
        rates: learning rate by name of a submodule or parameter, such as
            {"layer4": 1e-3, "fc.bias": 1e-2}. The longest name decides.

    Returns:
        One group per rate, each parameter in exactly one, ``lr`` first.

    Raises:
        ValueError: a name of ``rates`` decides for no parameter.

    Source: "Per-parameter options" in docs.pytorch.org/docs/stable/optim.html
    """
    rates = {"": lr, **rates}
    params = {name: [] for name in rates}
    for name, parameter in model.named_parameters():
        while name not in rates:  # layer4.1.conv1, layer4.1, layer4, ""
            name = name.rpartition(".")[0]
        params[name].append(parameter)
    unused = [name for name in rates if name and not params[name]]
    if unused:
        raise ValueError(f"No parameter belongs to {', '.join(unused)}")
    return [{"params": params[name], "lr": rates[name]} for name in rates]


if __name__ == "__main__":
    torch.manual_seed(0)
    # For real work, with pretrained weights and your own last layer
    model = resnet18(weights=None, num_classes=5)
    groups = lr_groups(model, 1e-4, {"layer4": 1e-3, "fc": 1e-2})
    optimizer = torch.optim.SGD(groups)

    before = copy.deepcopy(model)
    model(torch.randn(4, 3, 64, 64)).logsumexp(1).sum().backward()
    optimizer.step()
    for part, rate in {"layer1": 1e-4, "layer4": 1e-3, "fc": 1e-2}.items():
        new, old = (getattr(m, part).parameters() for m in (model, before))
        for p, q in zip(new, old, strict=True):
            torch.testing.assert_close(p, q - rate * p.grad)
    for group in optimizer.param_groups:
        count = sum(p.numel() for p in group["params"])
        print(f"{count:>8} parameters at {group['lr']}")
