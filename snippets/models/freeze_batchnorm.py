"""Freeze BatchNorm: without eval() its statistics drift in train() mode."""

import torch
from torch import nn

NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm)


def freeze_batchnorm(model):
    """Fix every BatchNorm in the model. Call it after each train()."""
    for layer in model.modules():
        if isinstance(layer, NORMS):
            layer.eval()  # statistics
            layer.requires_grad_(False)  # weight and bias


if __name__ == "__main__":
    backbone = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU())
    images = torch.rand(16, 3, 32, 32)
    for frozen in (False, True):
        model = backbone.requires_grad_(False).train()  # as every epoch does
        if frozen:
            freeze_batchnorm(model)
        before = model[1].running_mean.clone()
        model(images)
        same = torch.equal(before, model[1].running_mean)
        print(f"frozen: {frozen}, running_mean unchanged: {same}")
