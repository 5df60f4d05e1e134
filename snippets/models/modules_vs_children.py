"""Walk through a model: children() one level, modules() every level."""

from torch import nn


def find_layers(
    root: nn.Module, kind: type[nn.Module] | tuple[type[nn.Module], ...]
) -> dict[str, nn.Module]:
    """Return all modules of a kind, at any depth, by their full names.

    ``root.get_submodule(name)`` takes such a name. The root itself counts
    and is called "". A module used in two places appears once, under the
    name that comes first.

    Source: torch.nn.Module.named_modules in the PyTorch reference
    """
    modules = root.named_modules()
    return {
        name: module for name, module in modules if isinstance(module, kind)
    }


if __name__ == "__main__":
    relu = nn.ReLU()
    stem = nn.Sequential(nn.Conv2d(3, 8, 3), relu)
    head = nn.Linear(8, 2)
    model = nn.ModuleDict({"stem": stem, "act": relu, "head": head})

    children = [name for name, _ in model.named_children()]
    modules = [name for name, _ in model.named_modules()]
    assert children == ["stem", "act", "head"]
    # The model itself comes first; act is stem.1, which has been listed.
    assert modules == ["", "stem", "stem.0", "stem.1", "head"]

    assert find_layers(model, nn.Conv2d) == {"stem.0": stem[0]}
    assert model.get_submodule("stem.0") is stem[0]
    print("children:", children)
    print("modules: ", modules)
