"""Measure how well confidence fits accuracy; mend it with a temperature."""

import torch
from torch.nn import functional as F


def calibration_error(probs, y, bins=15):
    """Return the expected calibration error of probs (N, C), labels y (N,)."""
    confidence, predicted = probs.max(1)
    correct = (predicted == y).float()
    index = (confidence * bins).long().clamp(max=bins - 1)  # (N,)
    gap = torch.zeros(bins, device=probs.device)
    gap.index_add_(0, index, correct - confidence)  # sums over each bin
    return (gap.abs().sum() / len(y)).item()


def fit_temperature(logits, y):
    """Return T: logits / T have the lowest cross entropy on these labels."""
    scale = torch.ones(1, device=logits.device, requires_grad=True)  # 1 / T
    optimizer = torch.optim.LBFGS([scale], line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = F.cross_entropy(logits.clone() * scale, y.clone())
        loss.backward()
        return loss

    optimizer.step(closure)
    return 1 / scale.item()


if __name__ == "__main__":
    torch.manual_seed(0)
    true = torch.randn(4000, 5)
    y = torch.multinomial(true.softmax(1), 1).squeeze(1)
    logits = 3 * true  # a model that is far too sure
    T = fit_temperature(logits[:2000], y[:2000])  # the validation set
    test, y = logits[2000:], y[2000:]
    before = calibration_error(test.softmax(1), y)
    after = calibration_error((test / T).softmax(1), y)
    print(f"T = {T:.1f}; error {before:.2f} before, {after:.2f} after")
