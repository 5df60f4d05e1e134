"""A model with two inputs: an image and the columns of a table."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class ImageAndTable(nn.Module):
    """(N, 3, H, W) images and (N, columns) numbers to (N, classes)."""

    def __init__(self, cnn, cnn_features, columns, classes):
        super().__init__()
        self.cnn = cnn  # images to (N, cnn_features)
        self.mlp = nn.Sequential(nn.Linear(columns, 16), nn.ReLU())
        self.head = nn.Linear(cnn_features + 16, classes)

    def forward(self, image, table):
        a = self.cnn(image)  # (N, cnn_features)
        b = self.mlp(table)  # (N, 16)
        return self.head(torch.cat((a, b), dim=1))


class ImageTableDataset(Dataset):
    """One dict a sample; the loader stacks each entry."""

    def __len__(self):
        return 6

    def __getitem__(self, i):
        image = torch.full((3, 8, 8), i / 6)  # yours: read the i-th image
        return {"image": image, "table": torch.ones(4), "label": i % 2}


if __name__ == "__main__":
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    conv = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU())
    cnn = nn.Sequential(conv, nn.AdaptiveAvgPool2d(1), nn.Flatten())
    model = ImageAndTable(cnn, cnn_features=8, columns=4, classes=2)
    model.to(device)
    for batch in DataLoader(ImageTableDataset(), batch_size=4):
        batch = {k: v.to(device) for k, v in batch.items()}
        logits = model(batch["image"], batch["table"])
        loss = nn.functional.cross_entropy(logits, batch["label"])
        loss.backward()
        print({k: tuple(v.shape) for k, v in batch.items()})
