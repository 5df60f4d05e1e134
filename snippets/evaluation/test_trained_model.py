"""Load a trained model from its file, and test it without training."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
y = torch.arange(103) % 10
x = nn.functional.one_hot(y) + torch.randn(103, 10) / 3
test_set = TensorDataset(x, y)
test_loader = DataLoader(test_set, batch_size=32)
trained = nn.Sequential(nn.Dropout(), nn.Linear(10, 10))
nn.init.eye_(trained[1].weight)  # stands for training
torch.save(trained.state_dict(), "model.pt")  # as at its end

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Dropout(), nn.Linear(10, 10))  # built as for training
weights = torch.load("model.pt", map_location=device, weights_only=True)
model.load_state_dict(weights)  # of a checkpoint: its model_state_dict
model.to(device).eval()
right = 0
with torch.inference_mode():
    for x, y in test_loader:
        right += (model(x.to(device)).argmax(1) == y.to(device)).sum().item()
print(f"{right} of {len(test_set)} are right: {right / len(test_set):.1%}")
