"""Train, save and run models in Paddle, which PyTorch has to reproduce.

``make paddle`` runs ``save_with_paddle.py saved`` in an environment of its own. It
writes saved/*.pdparams and, read back by paddle.load, their arrays (*.npz) with inputs
and outputs (io.npz).
"""

import sys
from pathlib import Path

import numpy as np
import paddle
from paddle import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(6, 6)  # square: a transposed one would fit
        self.conv = nn.Conv2D(1, 5, 3)
        self.norm = nn.BatchNorm2D(5, momentum=0.8, epsilon=1e-3)
        self.act = nn.PReLU(5)
        self.hidden = nn.Linear(5, 5)  # square as well
        self.head = nn.Linear(5, 3)

    def forward(self, words):  # (N, T)
        x = self.embed(words).unsqueeze(1)  # (N, 1, T, D)
        x = self.act(self.norm(self.conv(x))).mean(axis=[2, 3])
        return self.head(self.hidden(x))


class Recurrent(nn.Layer):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 3, num_layers=2, direction="bidirect")
        self.gru = nn.GRU(6, 3)

    def forward(self, x):  # (N, T, 4)
        return self.gru(self.lstm(x)[0])[0]


def save(model: nn.Layer, path: Path) -> None:
    """Write a Paddle file, and what the page tells to make of it."""
    paddle.save(model.state_dict(), str(path))
    state = paddle.load(str(path)).items()
    arrays = {k: v.astype("float32").numpy() for k, v in state}
    np.savez(path.with_suffix(".npz"), **arrays)


folder = Path(sys.argv[1])
paddle.seed(0)
rng = np.random.default_rng(0)
words = rng.integers(0, 6, (8, 7))

net = Net()
optimizer = paddle.optimizer.SGD(0.5, parameters=net.parameters())
for _ in range(5):  # so that no weight or statistic is 0 or 1
    loss = (net(paddle.to_tensor(words)) - 1).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
net.eval()
save(net, folder / "net.pdparams")
data = {"words": words, "output": net(paddle.to_tensor(words)).numpy()}

net.train()
net(paddle.to_tensor(words))  # updates the statistics once
data["next_mean"] = net.norm._mean.numpy()
data["next_variance"] = net.norm._variance.numpy()

half = nn.Sequential(nn.Linear(3, 2)).bfloat16()
save(half, folder / "half.pdparams")
data["half_weight"] = half[0].weight.astype("float32").numpy()
data["half_bits"] = half[0].weight.numpy()

recurrent = Recurrent()
save(recurrent, folder / "recurrent.pdparams")
x = rng.normal(size=(2, 5, 4)).astype("float32")
data["sequence"] = x
data["states"] = recurrent(paddle.to_tensor(x)).numpy()

attention = nn.MultiHeadAttention(4, 2)
for parameter in attention.parameters():  # the biases start as 0
    parameter.set_value(rng.normal(size=parameter.shape).astype("float32"))
save(attention, folder / "attention.pdparams")
data["attended"] = attention(paddle.to_tensor(x)).numpy()
np.savez(folder / "io.npz", **data)
