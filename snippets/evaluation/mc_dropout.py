"""Keep dropout on at inference, and take the spread as uncertainty."""

import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
x, y = map(torch.tensor, load_digits(return_X_y=True))
x, x_train, y, y_train = x[300:].float(), x[:300].float(), y[300:], y[:300]
model = nn.Sequential(  # yours: trained with dropout
    nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 10)
)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(100):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x_train), y_train).backward()
    optimizer.step()

model.eval()  # BatchNorm stays in eval mode
for module in model.modules():
    if isinstance(module, nn.modules.dropout._DropoutNd):  # of every kind
        module.train()
with torch.inference_mode():  # (T, N, C): T = 50 passes
    probs = torch.stack([model(x).softmax(1) for _ in range(50)])
mean, std = probs.mean(0), probs.std(0)  # (N, C) each
assert std.any(), "no dropout was on"
model.eval()  # dropout off again

entropy = torch.special.entr(mean).sum(1)  # (N,): the whole uncertainty
epistemic = entropy - torch.special.entr(probs).sum(2).mean(0)  # of the model
right = mean.argmax(1) == y
for name, value in (("entropy", entropy), ("epistemic", epistemic)):
    at_right, at_wrong = value[right].mean(), value[~right].mean()
    print(f"{name}: {at_right:.1f} where right, {at_wrong:.1f} where wrong")
