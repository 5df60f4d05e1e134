"""An angle for each image, or a flow: with gradients for both."""

import torch
from torch.nn import functional as F


def affine(x, degrees, zoom=1.0, shift=0.0):
    """Rotate counterclockwise and zoom about the center, then shift.

    x: float (N, C, H, W). degrees, zoom: (N,).
    shift: (N, 2), pixels to the right and down.
    """
    size = x.new_tensor([x.shape[3], x.shape[2]])  # W, H
    a = torch.deg2rad(degrees)
    c, s = torch.cos(a) / zoom, torch.sin(a) / zoom  # from output to input
    R = torch.stack([c, -s, s, c], 1).view(-1, 2, 2) * size / size[:, None]
    theta = torch.cat([R, -R @ (2 * shift / size)[..., None]], 2)  # (N, 2, 3)
    grid = F.affine_grid(theta, x.shape, align_corners=False)
    return F.grid_sample(x, grid, align_corners=False)


def warp(x, flow):
    """Return out[..., i, j] = x[..., i + flow[:, 1], j + flow[:, 0]].

    flow: (N, 2, H, W), pixels to the right and down.
    """
    H, W = x.shape[-2:]
    i, j = torch.meshgrid(torch.arange(H), torch.arange(W), indexing="ij")
    at = flow + torch.stack([j, i]).float().to(flow.device)  # x before y
    size = at.new_tensor([W, H]).view(2, 1, 1)
    grid = (2 * at + 1) / size - 1  # pixel numbers to -1 .. 1
    grid = grid.permute(0, 2, 3, 1)  # at least float32, as x has to be
    return F.grid_sample(x.to(at.dtype), grid, align_corners=False).to(x.dtype)


if __name__ == "__main__":
    x = torch.zeros(1, 1, 5, 7)  # (N, C, H, W)
    x[:, :, 2, 4:6] = 1  # a bar to the right of the center
    degrees = torch.tensor([90.0], requires_grad=True)
    turned = affine(x, degrees)
    print(turned[0, 0].detach().round().int())
    turned[0, 0, 0, 3].backward()
    print("the angle has a gradient:", degrees.grad.item() != 0)
    flow = torch.ones(1, 2, 5, 7)  # look one pixel to the right and down
    print("warped bar at (i, j)", warp(x, flow)[0, 0].nonzero().tolist())
