"""Copy the weights of a Keras LSTM layer into nn.LSTM."""

import torch
from torch import nn

# In place of (torch.from_numpy(a) for a in keras_layer.get_weights()):
kernel, recurrent = torch.rand(5, 24), torch.rand(6, 24)  # (I, 4H), (H, 4H)
bias = torch.rand(24)  # (4H,)

lstm = nn.LSTM(5, 6, batch_first=True)
state = {"weight_ih_l0": kernel.T, "weight_hh_l0": recurrent.T}
state |= {"bias_ih_l0": bias, "bias_hh_l0": 0 * bias}  # PyTorch adds the two
lstm.load_state_dict(state)

x = torch.rand(2, 1, 5)  # one step, with zeros as the state before it
i, f, g, o = (x[:, 0] @ kernel + bias).chunk(4, dim=1)
h = o.sigmoid() * (i.sigmoid() * g.tanh()).tanh()
torch.testing.assert_close(lstm(x)[0][:, 0], h)
