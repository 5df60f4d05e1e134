"""Average the probabilities of several trained models."""

import torch
from sklearn.datasets import load_digits
from torch import nn

x, y = map(torch.tensor, load_digits(return_X_y=True))
x, x_train, y, y_train = x[300:].float(), x[:300].float(), y[300:], y[:300]
models = []
for seed in range(5):  # yours: trained with other seeds, or on other folds
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(100):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x_train), y_train).backward()
        optimizer.step()
    models.append(model)

for model in models:
    model.eval()
with torch.inference_mode():
    probs = torch.stack([model(x).softmax(1) for model in models]).mean(0)
predicted = probs.argmax(1)  # (N,)

each = [(model(x).argmax(1) == y).float().mean().item() for model in models]
together = (predicted == y).float().mean()
print(f"one model {sum(each) / 5:.1%} on average, all {together:.1%}")
