"""Collect a model's predictions for a whole data set, in its order."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@torch.inference_mode()
def predict(model, loader, device):
    """Return logits and targets of all samples, (N, ...), on the CPU."""
    model.eval()  # and it stays in eval mode
    logits, targets = [], []
    for x, y in loader:
        logits.append(model(x.to(device)))
        targets.append(y.clone())  # a worker's own tensor keeps a file open
    return torch.cat(logits).cpu(), torch.cat(targets).cpu()


if __name__ == "__main__":
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    dataset = TensorDataset(torch.randn(10, 8), torch.arange(10) % 3)
    loader = DataLoader(dataset, batch_size=4)  # 4, 4 and 2, not shuffled
    model = nn.Sequential(nn.Linear(8, 3), nn.Dropout()).to(device)
    logits, target = predict(model, loader, device)
    wrong = (logits.argmax(1) != target).nonzero().squeeze(1)
    print(tuple(logits.shape), "wrong samples:", wrong.tolist())
