"""Two evaluations of the same weights have to agree to the last sample."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(
    nn.Linear(8, 64), nn.BatchNorm1d(64), nn.Dropout(), nn.Linear(64, 2)
).to(device)
state = model.state_dict()
loader = DataLoader(
    TensorDataset(torch.randn(100, 8), torch.arange(100) % 2), batch_size=32
)

print(model.load_state_dict(state))  # <All keys matched successfully>
model.eval()
with torch.inference_mode():
    right = sum(
        (model(x.to(device)).argmax(1) == y.to(device)).sum().item()
        for x, y in loader
    )
print(f"{right} of {len(loader.dataset)} right")  # the same every time
