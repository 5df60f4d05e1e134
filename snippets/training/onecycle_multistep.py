"""Where to step three schedulers: fixed epochs, a stalled loss, one cycle."""

import torch
from torch.optim import SGD
from torch.optim.lr_scheduler import MultiStepLR, OneCycleLR, ReduceLROnPlateau

model, epochs, rates = torch.nn.Linear(1, 1), 90, []


def train_one_epoch():
    """Stand for the batches of an epoch, and keep its rate."""
    rates.append(f"{optimizer.param_groups[0]['lr']:.3f}")
    optimizer.step()


optimizer = SGD(model.parameters(), lr=0.1)

scheduler = MultiStepLR(optimizer, milestones=[30, 60], gamma=0.1)
for _ in range(epochs):
    train_one_epoch()  # yours
    scheduler.step()  # once per epoch

print("MultiStepLR, epochs 29, 30, 60:", rates[29], rates[30], rates[60])

optimizer = SGD(model.parameters(), lr=0.1)
scheduler = ReduceLROnPlateau(optimizer, factor=0.1, patience=5)
rates.clear()
for val_loss in [0.9, *[0.7] * 8]:  # not better than 0.7 from epoch 2 on
    train_one_epoch()
    scheduler.step(val_loss)  # once per epoch, after validation
print("ReduceLROnPlateau, epochs 7, 8:", rates[7], rates[8])

optimizer = SGD(model.parameters(), lr=0.1, momentum=0.9)
scheduler = OneCycleLR(optimizer, max_lr=0.1, total_steps=epochs * 10)
rates.clear()
for _batch in range(epochs * 10):  # 10 is len(loader) here
    train_one_epoch()
    scheduler.step()  # after every batch
print("OneCycleLR, batches 0, 269, 899:", rates[0], rates[269], rates[899])
