"""Fit a temperature on validation data: confidence then fits accuracy."""

import torch
from torch.nn import functional as F
from torchmetrics.functional import calibration_error


def fit_temperature(logits, y):
    """Return T: logits / T have the lowest cross entropy on these labels."""
    logits, y = logits.detach().float().clone(), y.long().clone()
    scale = torch.ones(1, device=logits.device, requires_grad=True)  # 1 / T
    optimizer = torch.optim.LBFGS([scale], line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = F.cross_entropy(logits * scale, y)
        loss.backward()
        return loss

    optimizer.step(closure)
    return 1 / scale.clamp(1e-3, 1e3).item()  # T > 0, even if y is wrong


if __name__ == "__main__":
    torch.manual_seed(0)
    true = torch.randn(4000, 5)
    y = torch.multinomial(true.softmax(1), 1).squeeze(1)
    logits = 3 * true  # a model that is far too sure
    val_logits, test_logits = logits.split(2000)  # (N, C), from eval mode
    val_y, test_y = y.split(2000)  # (N,)

    T = fit_temperature(val_logits, val_y)
    probs = (test_logits / T).softmax(1)  # (N, C)
    before, after = (
        calibration_error(p, test_y, "multiclass", num_classes=5)  # 15 bins
        for p in (test_logits.softmax(1), probs)
    )
    print(f"T = {T:.1f}; ECE {before:.2f} before, {after:.2f} after")
