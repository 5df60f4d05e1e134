"""Freeze BatchNorm: without eval() its statistics drift in train() mode."""

import torch
from torch import nn


def freeze_batchnorm(model):
    """Fix every BatchNorm of the model, in a model of any depth."""
    kinds = nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm
    for layer in model.modules():
        if isinstance(layer, kinds):
            layer.eval()  # statistics
            layer.requires_grad_(False)  # weight and bias


if __name__ == "__main__":
    layers = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU()
    model = nn.Sequential(*layers)  # yours: with trained weights
    images = torch.rand(16, 3, 32, 32)

    model.train()  # in each epoch; it undoes the next line
    freeze_batchnorm(model)

    before = model[1].running_mean.clone()
    model(images)
    frozen = torch.equal(before, model[1].running_mean)
    model.train()(images)
    forgotten = torch.equal(before, model[1].running_mean)
    print(f"running_mean unchanged: {frozen}; without the call: {forgotten}")
