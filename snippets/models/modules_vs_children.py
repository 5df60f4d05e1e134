"""Walk through a model: children() one level deep, modules() all the way."""

from torch import nn

stem = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU())
model = nn.ModuleDict({"stem": stem, "head": nn.Linear(8, 2)})

parts = list(model.children())  # direct parts only
layers = list(model.modules())  # all depths, the model first
convs = [m for m in model.modules() if isinstance(m, nn.Conv2d)]
conv = model.get_submodule("stem.0")  # one layer, by its path

assert parts == [stem, model["head"]]
assert layers == [model, stem, stem[0], stem[1], model["head"]]
assert convs == [conv]
print("children:", [name for name, _ in model.named_children()])
print("modules: ", [name for name, _ in model.named_modules()])
