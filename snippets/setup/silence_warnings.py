"""Silence one warning, in one place or everywhere, and no other."""

import re
import warnings

import torch
from torch.nn.functional import mse_loss

x = torch.ones(3)
with warnings.catch_warnings():  # for these lines alone
    warnings.filterwarnings("ignore", category=UserWarning)
    y = torch.tensor(x)

# Everywhere from here on, and no other warning.
begins = "To copy construct from a tensor"  # the first words of yours
warnings.filterwarnings("ignore", message=re.escape(begins))
y = torch.tensor(x)

# Which line causes it? As an error, a warning has a traceback.
warnings.filterwarnings("error", message="Using a target size")
try:
    mse_loss(torch.zeros(3, 1), torch.ones(3))
except UserWarning as warning:
    print("still seen:", str(warning)[:47])
