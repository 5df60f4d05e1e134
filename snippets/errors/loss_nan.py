"""Skip a step that is not finite, and name what was not finite first."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
xs, ys = torch.randn(5, 8, 4), torch.randn(5, 8, 1)  # 5 batches of 8
ys[1, 0] = float("nan")  # a label that is missing
xs[3, 0] = 1e30  # a number that nobody expects

for step, (x, y) in enumerate(zip(xs, ys, strict=True)):
    optimizer.zero_grad()
    out = model(x)
    loss = nn.functional.mse_loss(out, y)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), torch.inf)  # measures
    if loss.isfinite() and norm.isfinite():
        optimizer.step()
    else:
        w = nn.utils.parameters_to_vector(model.parameters())
        seen = {"x": x, "y": y, "weights": w, "output": out, "loss": loss}
        bad = [n for n, t in seen.items() if not t.isfinite().all()]
        print(f"step {step} skipped:", [*bad, "gradients"][0], "not finite")
