"""Copy the weights of Keras layers into PyTorch: which axis goes where."""

import torch
from torch import nn

# yours: kernel, bias = (torch.tensor(a) for a in keras_layer.get_weights())
x, kernel, bias = torch.rand(2, 5), torch.rand(5, 4), torch.rand(4)  # Dense
hwio = torch.rand(3, 3, 5, 4)  # Conv2D: height, width, in, out
hwcm = torch.rand(3, 3, 4, 2)  # DepthwiseConv2D: ..., in, multiplier
gamma, beta, mean, var = torch.rand(4, 4)  # BatchNormalization
k, r, b = torch.rand(5, 24), torch.rand(6, 24), torch.rand(24)  # LSTM

dense, conv = nn.Linear(5, 4), nn.Conv2d(5, 4, 3)
dense.load_state_dict({"weight": kernel.T, "bias": bias})
conv.load_state_dict({"weight": hwio.permute(3, 2, 0, 1), "bias": bias})
depthwise = nn.Conv2d(4, 8, 3, groups=4, bias=False)
weight = hwcm.permute(2, 3, 0, 1).flatten(0, 1).unsqueeze(1)
depthwise.load_state_dict({"weight": weight})
norm = nn.BatchNorm2d(4, eps=1e-3, momentum=0.01)  # Keras: momentum=0.99
stats = {"running_mean": mean, "running_var": var}
norm.load_state_dict({"weight": gamma, "bias": beta} | stats)
lstm = nn.LSTM(5, 6, batch_first=True)
biases = {"bias_ih_l0": b, "bias_hh_l0": 0 * b}  # PyTorch adds the two
lstm.load_state_dict({"weight_ih_l0": k.T, "weight_hh_l0": r.T} | biases)
torch.testing.assert_close(dense(x), x @ kernel + bias)
