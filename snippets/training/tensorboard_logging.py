"""Log curves, images and histograms to a folder that TensorBoard shows."""

import torch
from tensorboard.backend.event_processing.event_accumulator import (
    EventAccumulator,
)
from torch import nn
from torch.utils.tensorboard import SummaryWriter

images = torch.rand(8, 3, 16, 16)  # (N, 3, H, W), floats from 0 to 1
model = nn.Conv2d(3, 3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def train_one_epoch():
    """Take one step, and return the loss, a float."""
    loss = nn.functional.mse_loss(model(images), images)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


with SummaryWriter("runs/lr=0.1") as writer:  # a folder for each run
    for epoch in range(5):
        writer.add_scalar("loss/train", train_one_epoch(), epoch)
        writer.add_images("input", images, epoch)
        for name, weight in model.named_parameters():
            writer.add_histogram(name, weight, epoch)

events = EventAccumulator(writer.log_dir).Reload()  # what was written
print(events.Tags()["images"], [e.step for e in events.Scalars("loss/train")])
