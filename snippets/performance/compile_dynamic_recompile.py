"""Count how often a model is compiled; compile once for all batch sizes."""

import torch
from torch._dynamo.utils import counters

model = torch.nn.Linear(16, 4)
model = torch.compile(model, backend="eager")  # in real code: no backend
loader = [(torch.randn(n, 16), torch.zeros(n)) for n in (8, 5, 12, 3)]

for x, _ in loader:
    model(x)
    compiled = counters["stats"]["unique_graphs"]
    print(f"batch of {len(x)}: versions so far: {compiled}")

torch.compiler.reset()  # forget the compiled code
x, _ = next(iter(loader))
torch._dynamo.mark_dynamic(x, 0)  # dimension 0, the batch, varies
model(x)  # the compiled model: one version for all sizes
with torch.compiler.set_stance("fail_on_recompile"):
    for x, _ in loader:
        model(x)
